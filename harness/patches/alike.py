"""Files that two patches change in the same way. Pure."""

from assay.harness.patches.as_git import read_as_git


def find_equal_changes(one: str, other: str) -> frozenset[str]:
    """Return the paths that two patches change by the same lines, each in one place; raises MalformedPatchError."""
    first, second = _changes_by_name(one), _changes_by_name(other)
    alike = (name for name, found in first.items() if len(found) == 1 and found == second.get(name))
    return frozenset(name.decode() for name in alike)


def _changes_by_name(patch: str) -> dict[bytes, list[tuple[object, ...]]]:
    found: dict[bytes, list[tuple[object, ...]]] = {}
    for file in read_as_git(patch.removesuffix("\n").encode() + b"\n"):
        for name in file.names:
            found.setdefault(name, []).append((file.names, file.is_new, file.is_deleted, file.body))
    return found
