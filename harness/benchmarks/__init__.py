"""Benchmarks whose rule is more than labels, one folder each."""
