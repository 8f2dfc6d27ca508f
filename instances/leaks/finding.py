"""Findings of an image's audit, and what the rules are given."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from assay.harness.domain import Instance, Model, TreeRef
from assay.harness.engines.layers import ImageConfig
from assay.instances.audit.finding import Severity
from assay.instances.leaks.facts import KeptLayer, longest_parts, may_hold
from assay.instances.leaks.trees import KnownTrees, TreeObjects


class ImageRule(StrEnum):
    OBJECTS = "objects"
    """The repository holds exactly the objects of the base tree."""
    REFS = "refs"
    """It has one branch, and no tag, remote, reflog, alternate or second repository."""
    GOLD = "gold"
    """No file holds a hunk of the gold patch."""
    TESTS = "hidden_tests"
    """No file holds a hunk of the test patch."""
    TEST_IDS = "test_ids"
    """No file names a hidden test."""
    RELEASE = "later_release"
    """There is no second copy of the project, unless the base commit or an ancestor of it has the same files."""
    CREDENTIAL = "credential"
    PROXY = "proxy"
    CA = "ca"


class ImageFinding(Model):
    """Something that an image should not hold."""

    rule: ImageRule
    severity: Severity
    path: str
    """File, or ``archive!file``; in brackets what is no file."""
    layer: int | None = None
    """Number of the layer from 1, the lowest; None for what is in no layer."""
    digest: str = ""
    hidden: bool = False
    """Whether a later layer removes or replaces it, so that only who reads the layers sees it."""
    what: str

    def __str__(self) -> str:
        where = f" in layer {self.layer}{' (removed later)' if self.hidden else ''}" if self.layer else ""
        return f"{self.rule}: {self.path}{where}: {self.what}"


@dataclass(frozen=True, slots=True)
class HiddenAnswer:
    """The instance that an image belongs to, and the trees it may hold."""

    instance: Instance
    base: TreeObjects
    ref: TreeRef
    below: tuple[TreeRef, ...]
    """Trees of ancestors, which lower layers may hold."""
    trees: KnownTrees

    def list_allowed(self) -> frozenset[str]:
        """Return the ids of all objects that any layer may hold."""
        return self.base.ids.union(*(self.trees.objects(ref).ids for ref in self.below))

    def find_in_trees(self, wanted: Collection[bytes], cut: Callable[[bytes], Iterable[bytes]]) -> frozenset[bytes]:
        """Return those texts that a file of an allowed tree holds, cut into texts by a function."""
        left, parts = set(wanted), longest_parts(wanted)
        for data in self.trees.texts((self.ref, *self.below)) if left else ():
            if may_hold(data, parts):
                left.difference_update(left.intersection(cut(data)))
        return frozenset(wanted) - left


@dataclass(frozen=True, slots=True)
class AuditedImage:
    """An image, and all that the rules may ask of it."""

    name: str
    config: ImageConfig
    layers: tuple[KeptLayer, ...]
    seen: Mapping[str, int]
    """Paths that a container sees, with the number of the layer (from 0) that each comes from."""
    read: Callable[[int], Iterator[tuple[str, bytes]]]
    """Reads a layer again: its files, and what is in them."""
    strict: bool = True
    """Whether the image was made here, where even an ancestor's objects must not be seen."""

    def finding(
        self, rule: ImageRule, layer: int, path: str, what: str, severity: Severity = Severity.FAULT
    ) -> ImageFinding:
        return ImageFinding(
            rule=rule,
            severity=severity,
            path=path,
            layer=layer + 1,
            digest=self.layers[layer].digest,
            hidden=self.seen.get(path) != layer,
            what=what,
        )
