"""Two solvers on one engine: Monte Carlo tree search over states of a workspace, and over the graph of a repository."""

from assay.agents.solvers.tree_search.graph_search import GraphSearch
from assay.agents.solvers.tree_search.solver import TreeSearch

__all__ = ["GraphSearch", "TreeSearch"]
