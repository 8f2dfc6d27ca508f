"""``assay cluster``: texts that start an evaluation on many machines."""
