"""Turning an issue into a prediction: solvers by name, and what they work with.

A solver is a class that satisfies ``base.Agent``. To add one, name it here, register it under the entry-point group
``assay.agents``, or pass ``package.module:Class`` to ``assay solve --agent``.
"""

AGENTS = {
    "gold": "assay.agents.solvers.controls:Gold",
    "null": "assay.agents.solvers.controls:Null",
    "replay": "assay.agents.solvers.replay:Replay",
    "bash_loop": "assay.agents.solvers.bash_loop:BashLoop",
    "agentless": "assay.agents.solvers.agentless:Agentless",
    "ast_search": "assay.agents.solvers.ast_search:AstSearch",
    "retrieval": "assay.agents.solvers.retrieval:RetrievalSolver",
    "best_of": "assay.agents.solvers.best_of:BestOf",
    "tree_search": "assay.agents.solvers.tree_search:TreeSearch",
    "graph_search": "assay.agents.solvers.tree_search:GraphSearch",
    "command": "assay.agents.external.command:Command",
}
"""Short names. The commands of ``adapters/*.yaml`` are agents by their file names as well."""
