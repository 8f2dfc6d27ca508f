"""The ``assay`` command: the composition root, one module for each noun."""

import os
import sys

from assay.harness.cli.exits import INFRASTRUCTURE, USAGE
from assay.harness.errors import AssayError, EngineUnavailable, UserError


def main() -> None:
    """Run the command line; every error that we raise on purpose is one line and an exit code."""
    from assay.harness.cli.app import app

    try:
        app()
    except (UserError, EngineUnavailable) as error:
        _fail(str(error), USAGE)
    except AssayError as error:
        _fail(str(error), INFRASTRUCTURE)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        _fail(f"{error.filename or 'the file system'}: {error.strerror or error}", INFRASTRUCTURE)


def _fail(message: str, code: int) -> None:
    sys.stdout.flush()
    print(f"assay: {message}", file=sys.stderr, flush=True)
    sys.exit(code)
