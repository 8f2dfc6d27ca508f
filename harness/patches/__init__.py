"""Unified diffs: the gate, and the one reader."""
