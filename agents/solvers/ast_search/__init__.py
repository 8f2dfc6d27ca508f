"""AutoCodeRover's way: search the syntax trees, name the places, write the patch."""

from assay.agents.solvers.ast_search.solver import AstSearch

__all__ = ["AstSearch"]
