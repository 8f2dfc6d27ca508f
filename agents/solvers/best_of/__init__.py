"""The best of several samples, of this solver's own machines or of any other solver."""

from assay.agents.solvers.best_of.solver import BestOf

__all__ = ["BestOf"]
