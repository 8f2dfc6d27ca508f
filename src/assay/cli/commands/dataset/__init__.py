"""``assay dataset``: the instances themselves."""
