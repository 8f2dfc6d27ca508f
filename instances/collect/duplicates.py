"""Patches that are nearly the same, in a collection and in known data sets. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from assay.harness.domain import Instance
from assay.harness.patches.diff import MalformedPatchError, read_diff

NEAR = 0.8
"""Share of the changed lines of two patches, of those of either, that makes one a duplicate of the other."""


@dataclass(slots=True)
class PatchIndex:
    """Finds the nearest of many patches by their changed lines."""

    _sizes: dict[str, int] = field(default_factory=dict)
    _owners: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Ids of the patches that change a line."""

    def add(self, name: str, patch: str) -> None:
        """Remember a patch; one that cannot be read has no lines."""
        lines = _read_changed_lines(patch)
        self._sizes[name] = len(lines)
        for line in lines:
            self._owners[line].add(name)

    def find_duplicate(self, patch: str) -> str:
        lines = _read_changed_lines(patch)
        shared = Counter(name for line in lines for name in self._owners.get(line, ()))
        shares = ((both / (len(lines) + self._sizes[name] - both), name) for name, both in shared.items())
        share, name = max(shares, default=(0.0, ""))
        return name if share >= NEAR else ""


def find_duplicates(instances: Iterable[Instance]) -> dict[str, str]:
    """Return each instance whose gold patch is nearly that of an earlier one of its repository, and that one."""
    indices: dict[str, PatchIndex] = defaultdict(PatchIndex)
    found = {}
    for each in instances:
        if earlier := indices[each.repo].find_duplicate(each.gold_patch):
            found[each.id] = earlier
        indices[each.repo].add(each.id, each.gold_patch)
    return found


@dataclass(frozen=True, slots=True)
class KnownInstances:
    """Instances of benchmarks that a collection must not repeat."""

    ids: frozenset[str] = frozenset()
    """Lower case."""
    patches: PatchIndex = field(default_factory=PatchIndex)


def index_known(instances: Iterable[Instance]) -> KnownInstances:
    """Index the ids and patches that candidates are compared with."""
    ids, patches = set(), PatchIndex()
    for each in instances:
        ids.add(each.id.lower())
        patches.add(each.id, each.gold_patch)
    return KnownInstances(frozenset(ids), patches)


def _read_changed_lines(patch: str) -> frozenset[str]:
    try:
        changes = read_diff(patch)
    except MalformedPatchError:
        return frozenset()
    lines = (line for change in changes for hunk in change.hunks for line in hunk.lines if line.mark in "+-")
    return frozenset(f"{line.mark}{line.text.strip()}" for line in lines if line.text.strip())
