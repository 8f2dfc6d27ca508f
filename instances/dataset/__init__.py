"""Rows of a data set -> instances, predictions, and back."""
