"""``assay images``: the environments that evaluations run in."""
