"""Turning an issue into a prediction: solvers by name, and what they work with.

A solver is a class that satisfies ``base.Agent``. To add one, name it here, register it under the entry-point group
``assay.agents``, or pass ``package.module:Class`` to ``assay solve --agent``.
"""

AGENTS = {
    "gold": "assay.agents.controls:Gold",
    "null": "assay.agents.controls:Null",
    "replay": "assay.agents.replay:Replay",
    "bash_loop": "assay.agents.bash_loop:BashLoop",
    "agentless": "assay.agents.agentless:Agentless",
    "ast_search": "assay.agents.ast_search:AstSearch",
    "retrieval": "assay.agents.retrieval:Retrieval",
    "best_of": "assay.agents.best_of:BestOf",
    "tree_search": "assay.agents.tree_search:TreeSearch",
    "graph_search": "assay.agents.tree_search:GraphSearch",
    "command": "assay.agents.command:Command",
}
"""Short names. The commands of ``adapters/*.yaml`` are agents by their file names as well."""
