"""One sample and many: solve, run, store, workspaces, checks of the result."""
