"""Measures beside the verdict: the places that a patch changes, its similarity to gold, and statistics of rates.

Pure functions from patches and texts to figures. ``docs/metrics.md`` has the definitions and their sources.
"""
