"""Judged nodes of a search tree."""

from assay.agents.solvers.tree_search.search_tree import SearchNode, SearchTree, backpropagate


def judged(
    tree: SearchTree[str], parent: SearchNode[str], name: str, reward: float | None, **facts: bool
) -> SearchNode[str]:
    """Add a node of a kind, with its reward passed to all above it; None for one that nobody judged."""
    node = tree.add(parent, name, kind=name)
    node.reward = reward
    for fact, value in facts.items():
        setattr(node, fact, value)
    backpropagate(node)
    return node
