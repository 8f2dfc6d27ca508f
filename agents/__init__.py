"""Turn an issue into a prediction: the solvers, by name.

A solver is a class that satisfies ``contract.Agent``. To add one, name it here, register it under the entry-point group
``assay.agents``, or pass ``package.module:Class`` to ``assay solve --agent``.
"""

AGENTS = {
    "gold": "assay.agents.solvers.controls:Gold",
    "null": "assay.agents.solvers.controls:Null",
    "replay": "assay.agents.solvers.replay:ReplaySolver",
    "bash_loop": "assay.agents.solvers.bash_loop:BashLoop",
    "agentless": "assay.agents.solvers.agentless:Agentless",
    "ast_search": "assay.agents.solvers.ast_search:AstSearch",
    "retrieval": "assay.agents.solvers.retrieval:RetrievalSolver",
    "best_of": "assay.agents.solvers.best_of:BestOf",
    "tree_search": "assay.agents.solvers.tree_search:TreeSearch",
    "graph_search": "assay.agents.solvers.tree_search:GraphSearch",
    "command": "assay.agents.external.command:Command",
}
"""Short name to class. External agents (``external/adapters/*.yaml``) are found by their file names as well."""
