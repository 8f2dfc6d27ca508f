"""Causes: the smallest part of a resolved patch that still resolves it. ``run`` is the Work of a Crew."""
