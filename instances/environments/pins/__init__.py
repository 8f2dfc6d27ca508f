"""Locks of an instance's packages: one module for each way to fix versions."""
