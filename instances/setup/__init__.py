"""Finds the recipe of a repository that has none: extract, propose, build, run, diagnose, refine."""
