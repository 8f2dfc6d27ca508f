"""Runs in other benchmarks' files, one module each."""
