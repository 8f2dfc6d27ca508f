"""Two solvers on one engine: Monte Carlo tree search over states of a workspace, and over the graph of a repository."""
