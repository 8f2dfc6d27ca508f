"""Unified diffs: ``diff`` reads and writes them, ``gate`` says which may be applied."""
