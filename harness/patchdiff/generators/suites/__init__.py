"""The developers' own test suite as a generator."""
