"""Tests that a language model writes, after the protocol of PatchDiff (arXiv 2503.15223)."""
