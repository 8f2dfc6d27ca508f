"""One module for each command a person types."""
