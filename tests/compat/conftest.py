"""The command line in an empty folder with rows, as its own tests have it."""

from cli.conftest import actor, assay, assay_process, predictions, rows

__all__ = ["actor", "assay", "assay_process", "predictions", "rows"]
