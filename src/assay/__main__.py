"""``python -m assay`` is the ``assay`` command."""

from assay.cli.main import main

main()
