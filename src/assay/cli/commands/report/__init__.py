"""``assay report``: runs that were made."""
