"""Deciding whether a patch resolves an issue."""
