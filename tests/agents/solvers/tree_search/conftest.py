"""What several tests of the search tree look at."""

import pytest

from assay.agents.solvers.tree_search.search_tree import SearchTree
from judged_nodes import judged


@pytest.fixture
def small() -> SearchTree[str]:
    """Root with ``a`` (60) and ``b`` (20); under ``a`` the failed edit ``c`` (-50). Visits: root 3, a 2, b 1, c 1."""
    tree = SearchTree("root")
    a = judged(tree, tree.root, "a", 60)
    judged(tree, tree.root, "b", 20)
    judged(tree, a, "c", -50, risky=True, expects_correction=True)
    return tree
