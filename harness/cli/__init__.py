"""The ``assay`` command: the composition root, one module for each noun."""

import os
import sys

from assay.harness.cli.exits import INFRASTRUCTURE, USAGE
from assay.harness.errors import AssayError, EngineUnavailable, UserError

PATCHDIFF = "suites,amplify,replay"
"""What ``--patchdiff`` without a value stands for; the command line's own parser knows no optional values."""


def main() -> None:
    """Run the command line; every error that we raise on purpose is one line and an exit code."""
    from assay.harness.cli.app import app

    sys.argv[1:] = [f"{arg}={PATCHDIFF}" if arg == "--patchdiff" else arg for arg in sys.argv[1:]]
    try:
        app()
    except (UserError, EngineUnavailable) as error:
        _fail(str(error), USAGE)
    except AssayError as error:
        _fail(str(error), INFRASTRUCTURE)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _fail(f"{where}{error.strerror or error}; mend that and run the same command again", INFRASTRUCTURE)


def _fail(message: str, code: int) -> None:
    sys.stdout.flush()
    print(f"assay: {message}", file=sys.stderr, flush=True)
    sys.exit(code)
