"""Where instances and their environments come from."""
