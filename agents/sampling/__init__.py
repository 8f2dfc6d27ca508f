"""One sample and many: solve, run, store, workspaces, checks of the result.

A solver never sees an instance's id. It returns a ``SolveOutcome``; the ``Solution`` with status, usage and patch
is the harness's. Snapshots and differences of a workspace are made in a repository beside the tree's own, so
nothing that a solver does to ``.git`` can hide a change.
"""
