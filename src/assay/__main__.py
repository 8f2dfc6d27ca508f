"""``python -m assay`` is the ``assay`` command."""

from assay.harness.cli import main

main()
