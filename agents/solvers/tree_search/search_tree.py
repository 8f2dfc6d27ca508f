"""The search tree: nodes, growth, stopping, and the choice of the result. Pure.

After SWE-Search (Antoniades et al., arXiv 2410.20285). The content of a node is generic: a state of a workspace, or a
vertex of a graph. A ``Selector``, such as those of ``uct``, chooses the node to expand next.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")


@dataclass(eq=False, slots=True)
class SearchNode(Generic[T]):
    """One state of the search. ``SearchTree.add`` makes nodes."""

    number: int
    """Counted in order of creation; the root is 0."""
    content: T
    parent: "SearchNode[T] | None" = None
    children: "list[SearchNode[T]]" = field(default_factory=list)
    depth: int = 0
    kind: str = ""
    """Kind of the action that led here; siblings of one kind are repetitions."""
    reward: float | None = None
    """Reward of this state, from -100 to 100; None before it is judged."""
    visits: int = 0
    """Judged states at and below this node."""
    value: float = 0.0
    """Sum of their rewards."""
    duplicate: bool = False
    """Whether an earlier sibling is the same state."""
    terminal: bool = False
    """Whether it cannot be expanded any further."""
    finished: bool = False
    """Whether it claims to be a solution; it is terminal as well."""
    changed: bool = False
    """Whether the state differs from the base."""
    risky: bool = False
    """Whether the action was an edit, which may fail only because of its format."""
    expects_correction: bool = False
    """Whether its action failed in a way that another try can correct."""
    traits: frozenset[str] = frozenset()
    """What makes its state differ from the base, such as changed lines."""

    @property
    def worth(self) -> float:
        """The reward, 0 before it is judged."""
        return self.reward or 0.0

    def path(self) -> "list[SearchNode[T]]":
        above = self.parent.path() if self.parent else []
        return [*above, self]

    def below(self) -> "Iterator[SearchNode[T]]":
        for child in self.children:
            yield child
            yield from child.below()


class SearchTree(Generic[T]):
    """All nodes of one search, in order of creation."""

    def __init__(self, root: T, *, expansions: int = 5) -> None:
        """``expansions`` is the maximum number of children of a node."""
        self.nodes: list[SearchNode[T]] = [SearchNode(0, root)]
        self._expansions = expansions

    @property
    def root(self) -> SearchNode[T]:
        return self.nodes[0]

    def add(self, parent: SearchNode[T], content: T, *, kind: str = "") -> SearchNode[T]:
        child = SearchNode(len(self.nodes), content, parent, depth=parent.depth + 1, kind=kind)
        parent.children.append(child)
        self.nodes.append(child)
        return child

    def expandable(self) -> list[SearchNode[T]]:
        opened = (each for each in self.nodes if not each.terminal and not each.duplicate)
        return [each for each in opened if len(each.children) < self._expansions]

    def find_finished(self) -> list[SearchNode[T]]:
        """Return the nodes that claim to be a solution, the first of each parent."""
        found: dict[int, SearchNode[T]] = {}
        for node in self.nodes:
            if node.finished and node.parent:
                found.setdefault(node.parent.number, node)
        return list(found.values())

    def leaves(self) -> list[SearchNode[T]]:
        return [each for each in self.nodes if not each.children]


def backpropagate(node: SearchNode[T]) -> None:
    """Add a node's reward and one visit to it and its ancestors; do nothing for a node without a reward."""
    if node.reward is None:
        return
    for each in node.path():
        each.visits += 1
        each.value += node.reward


class Selector(Protocol):
    """Chooses among nodes that can be expanded."""

    def __call__(self, nodes: Sequence[SearchNode[T]]) -> SearchNode[T]:
        """Return one of these nodes; there is at least one."""
        ...


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a search; None is no limit."""

    nodes: int = 100
    finished: int | None = None
    """Number of solutions with different parents."""
    enough_reward: float | None = None
    """A solution with this reward ends the search, if there are ``least_finished`` solutions."""
    least_finished: int = 1
    first_finish_depth: int | None = 20
    """The newest node is expanded until there is a solution or a node of this depth; None: never."""
    cost: float | None = None
    """US dollars."""


def stop_reason(tree: SearchTree[T], bounds: Bounds, cost: float = 0.0) -> str:
    """Return why a search ends now; empty if it continues. ``cost`` is in US dollars."""
    finished = tree.find_finished()
    best = max((each.worth for each in finished), default=-math.inf)
    ends = {
        "it has cost enough": bounds.cost is not None and cost >= bounds.cost,
        "there are enough nodes": len(tree.nodes) >= bounds.nodes,
        "there are enough solutions": bounds.finished is not None and len(finished) >= bounds.finished,
        "a solution is good enough": bounds.enough_reward is not None
        and best >= bounds.enough_reward
        and len(finished) >= bounds.least_finished,
        "no node can be expanded": not tree.expandable(),
    }
    return next((reason for reason, is_so in ends.items() if is_so), "")


def next_node(tree: SearchTree[T], bounds: Bounds, selector: Selector) -> SearchNode[T]:
    """Return the node to expand: the newest until the first solution or ``first_finish_depth``, then the selected one.

    Raises ValueError if no node can be expanded; ``stop_reason`` reports that before.
    """
    nodes = tree.expandable()
    if not nodes:
        raise ValueError("no node can be expanded")
    return nodes[-1] if _follows_first_path(tree, bounds) else selector(nodes)


def _follows_first_path(tree: SearchTree[T], bounds: Bounds) -> bool:
    if bounds.first_finish_depth is None or any(node.finished for node in tree.nodes):
        return False
    return all(node.depth < bounds.first_finish_depth for node in tree.nodes)


def grow(
    tree: SearchTree[T],
    expand: Callable[[SearchNode[T]], SearchNode[T]],
    bounds: Bounds,
    selector: Selector,
    cost: Callable[[], float] = lambda: 0.0,
) -> str:
    """Select, expand and backpropagate until a limit ends the search; return the reason why it ended.

    ``expand`` adds a child to a node, runs its action, judges it and returns it; ``cost`` is in US dollars.
    """
    while not (reason := stop_reason(tree, bounds, cost())):
        backpropagate(expand(next_node(tree, bounds, selector)))
    return reason


def mean_reward(node: SearchNode[T]) -> float:
    """Return the mean of value / visits over the nodes from the root to this one."""
    means = [each.value / each.visits if each.visits else 0.0 for each in node.path()]
    return sum(means) / len(means)


def best_reward(node: SearchNode[T]) -> float:
    return node.worth


def candidates(tree: SearchTree[T]) -> list[SearchNode[T]]:
    """Return the nodes for the result: the solutions, else the leaves with a change, else all leaves."""
    return tree.find_finished() or [leaf for leaf in tree.leaves() if leaf.changed] or tree.leaves()


def result(tree: SearchTree[T], measure: Callable[[SearchNode[T]], float] = mean_reward) -> SearchNode[T]:
    """Return the best candidate by a measure; ties go to the oldest."""
    return max(candidates(tree), key=measure)
