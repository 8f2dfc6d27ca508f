"""Measures beside the verdict: where a patch changes, how like the gold patch it is, and what rates mean.

Pure: patches and texts in, figures out; ``docs/metrics.md`` has the definitions and their sources.
"""
