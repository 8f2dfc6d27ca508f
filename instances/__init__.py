"""Instances and their environments: data sets, recipes, repository content, images."""
