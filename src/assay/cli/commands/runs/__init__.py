"""``assay runs``: what is at work, and what it is asked for."""
