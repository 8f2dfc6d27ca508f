"""The ``assay`` command, also as ``python -m assay``."""

import sys


def main() -> None:
    """Run the command line; an interruption while it is still being loaded is one line, too."""
    try:
        from assay.cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("assay: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the folder one stands in: its settings may name a module, and it may be somebody else's
    main()
