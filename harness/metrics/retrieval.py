"""Retrieval measures: the files, functions and classes that a patch touches, against those of the gold patch.

They are SWE-PolyBench's (arXiv 2504.08703): precision, recall and F1 over files and over nodes of the syntax tree.
``docs/metrics.md`` lists the differences from its code.
"""

from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass
from typing import TypeVar

from assay.harness.domain import Model
from assay.harness.languages.syntax import Kind, definitions, innermost
from assay.harness.metrics.placing import parse_patch, place
from assay.harness.patches.diff import FileChange, MalformedPatchError

Texts = Callable[[str], str | None]
"""Returns the text of a file of the base tree; None if it does not exist or is not text."""
Item = TypeVar("Item")


class Scores(Model):
    """Agreement of a found set with the wanted one; each figure in [0, 1]."""

    precision: float
    recall: float
    f1: float


class Retrieval(Model):
    """Scores of a patch against the gold patch; None if the gold patch has nothing to find or cannot be read."""

    files: Scores | None
    nodes: Scores | None
    problem: str = ""
    """Reason for a score of 0, or for none."""


@dataclass(frozen=True, slots=True)
class TouchedNode:
    """The innermost function or class around a changed line."""

    path: str
    kind: Kind
    node: str
    name: str

    @property
    def key(self) -> str:
        """Its identity: ``path->node type:qualified.name``."""
        return f"{self.path}->{self.node}:{self.name}"


def retrieval(gold: str, candidate: str, texts: Texts | None, language: str) -> Retrieval:
    """Score a patch against the gold patch.

    A candidate scores 0 if it is empty, cannot be read or does not apply. Without ``texts`` of the base tree only the
    files are scored. Raises UserError for an unknown language.
    """
    try:
        wanted = parse_patch(gold)
        wanted_nodes = _keys(wanted, texts, language)
    except MalformedPatchError as error:
        return Retrieval(files=None, nodes=None, problem=f"the gold patch cannot be scored against: {error}")
    files, nodes, problem = _read_candidate(candidate, texts, language)
    return Retrieval(
        files=scores({change.base_path for change in wanted}, files), nodes=scores(wanted_nodes, nodes), problem=problem
    )


def scores(wanted: Set[Item], found: Set[Item]) -> Scores | None:
    """Return precision, recall and F1 of a found set; None if nothing is wanted, 0 if nothing is found."""
    if not wanted:
        return None
    both = len(wanted & found)
    return Scores(
        precision=both / len(found) if found else 0.0,
        recall=both / len(wanted),
        f1=2 * both / (len(wanted) + len(found)),
    )


def find_touched_nodes(changes: Iterable[FileChange], texts: Texts, language: str) -> frozenset[TouchedNode]:
    """Find the innermost functions and classes around the lines that a patch removes and adds.

    Removed lines are looked up in the file before the patch, added ones in the file after it. Lines outside of
    functions and classes, lines of white space and files without code are ignored. Raises MalformedPatchError: a change
    does not fit the base tree.
    """
    return frozenset(node for change in changes for node in _nodes_of_file(change, texts, language))


def _keys(changes: Iterable[FileChange], texts: Texts | None, language: str) -> frozenset[str]:
    return frozenset(node.key for node in find_touched_nodes(changes, texts, language)) if texts else frozenset()


def _read_candidate(patch: str, texts: Texts | None, language: str) -> tuple[frozenset[str], frozenset[str], str]:
    """Return the files and nodes that a patch touches, and its fault; none if it has one."""
    try:
        changes = parse_patch(patch)
    except MalformedPatchError as error:
        return frozenset(), frozenset(), f"the patch cannot be read: {error}"
    files = frozenset(change.base_path for change in changes)
    try:
        nodes = _keys(changes, texts, language)
    except MalformedPatchError as error:
        return files, frozenset(), f"the patch does not apply: {error}"
    return files, nodes, "" if changes else "the patch is empty"


def _nodes_of_file(change: FileChange, texts: Texts, language: str) -> Iterator[TouchedNode]:
    if not change.hunks:
        return
    before = texts(change.old) if change.old else None
    placed = place(change, before)
    yield from _find_nodes(placed.removed, change.base_path, change.old, before or "", language)
    yield from _find_nodes(placed.added, change.base_path, change.new, placed.after, language)


def _find_nodes(
    lines: Iterable[int], known_by: str, path: str | None, text: str, language: str
) -> Iterator[TouchedNode]:
    """Yield the nodes around lines of a file; its name on that side decides its language."""
    found = definitions(language, path, text) if path else ()
    for line in lines:
        if around := innermost(found, line):
            yield TouchedNode(known_by, around.kind, around.node, around.name)
