"""Turning an issue into a prediction."""
