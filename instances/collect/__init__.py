"""Instances from the history of repositories, in phases: each reads the files of those before it and writes its own."""
