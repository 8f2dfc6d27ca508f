"""The objects that git makes of the trees an image may hold: those of the base commit and of its ancestors."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from hashlib import sha1
from pathlib import Path

from pydantic import Field

from assay.harness.domain import Model, TreeRef
from assay.harness.files import code_edition, read_model, replace_file
from assay.harness.patches.diff import FileChange, MalformedPatchError, apply_change
from assay.instances.leaks.unpacked import object_id
from assay.instances.trees.content import SUBMODULE, TreeEntry, read_tar
from assay.instances.trees.sources import Sources, tree_key

_WHO = b"Assay <assay@localhost> 946684800 +0000"
"""Author and committer of the one commit, with the time that the images' scripts set."""


class TreeObjects(Model):
    commit: str = ""
    files: dict[str, str] = Field(default_factory=dict)
    """Ids of the files' contents by path."""
    trees: tuple[str, ...] = ()

    @cached_property
    def ids(self) -> frozenset[str]:
        """Every object: the commit, the trees and the files."""
        return frozenset((self.commit, *self.trees, *self.files.values()))


class KnownTrees:
    """Trees by reference, with their objects kept in a folder."""

    def __init__(self, sources: Sources, folder: Path) -> None:
        self._sources = sources
        self._folder = folder / f"trees-{code_edition(Path(__file__).parent)}"

    def objects(self, ref: TreeRef) -> TreeObjects:
        """Return the objects of a tree; raises EnvironmentFailure if the tree cannot be had."""
        kept = self._folder / f"{sha1(tree_key(ref).encode(), usedforsecurity=False).hexdigest()}.json"
        found = read_model(kept, TreeObjects)
        if found is None:
            found = tree_objects(read_tar(self._sources.tree(ref)))
            replace_file(kept, found.model_dump_json().encode())
        return found

    def texts(self, refs: Iterable[TreeRef]) -> Iterator[bytes]:
        """Yield the content of every file of some trees, with its path as the first line."""
        for ref in refs:
            for entry in read_tar(self._sources.tree(ref)):
                yield entry.path.encode(errors="surrogateescape") + b"\n" + entry.content

    def patch_tree(self, ref: TreeRef, changes: Iterable[FileChange]) -> Iterator[tuple[str, str]]:
        """Yield path and id of the files that a patch leaves; what does not fit the tree is left out."""
        for change in changes:
            before = self._sources.read_file(ref, change.base_path) if change.old else b""
            try:
                after = apply_change((before or b"").decode(), change)
            except (MalformedPatchError, UnicodeDecodeError):
                continue
            if after and change.hunks:
                yield change.path, object_id(b"blob", after.encode())

    def strangers(self, ref: TreeRef, others: Iterable[TreeRef]) -> list[TreeRef]:
        """Return those trees that are no ancestors of a tree, as far as its history is on this machine."""
        return [each for each in others if self._sources.is_ancestor(each, ref) is False]

    def later_objects(self, ref: TreeRef, ids: Iterable[str]) -> frozenset[str] | None:
        """Return those objects that no ancestor of a commit has; None if its history is not on this machine."""
        ids = frozenset(ids)
        return self._sources.later_objects(ref, ids) if ids else ids


def tree_objects(entries: Iterable[TreeEntry]) -> TreeObjects:
    """Return the objects that git makes of a tree without submodules, and of a commit of it without a parent."""
    root: _Folder = {}
    files = {}
    for entry in entries:
        if entry.mode == SUBMODULE:
            continue
        blob = object_id(b"blob", entry.content)
        files[entry.path] = blob
        *folders, name = entry.path.split("/")
        folder = root
        for each in folders:
            inner = folder.setdefault(each, {})
            assert isinstance(inner, dict), f"{entry.path} is below a file"
            folder = inner
        folder[name] = (entry.mode, blob)
    trees: list[str] = []
    top = _tree_id(root, trees)
    commit = object_id(b"commit", write_commit(top))
    return TreeObjects(commit=commit, files=files, trees=tuple(dict.fromkeys(trees)))


def write_commit(tree: str) -> bytes:
    return b"tree %s\nauthor %s\ncommitter %s\n\nbase\n" % (tree.encode(), _WHO, _WHO)


_Folder = dict[str, "_Folder | tuple[int, str]"]  # names to folders, or to mode and id of a file


def _tree_id(folder: _Folder, found: list[str]) -> str:
    rows = []
    for name, inside in folder.items():
        key = name.encode(errors="surrogateescape")
        if isinstance(inside, dict):
            rows.append((key + b"/", b"40000 %s\0%s" % (key, bytes.fromhex(_tree_id(inside, found)))))
        else:
            mode, blob = inside
            rows.append((key, b"%o %s\0%s" % (mode, key, bytes.fromhex(blob))))
    made = object_id(b"tree", b"".join(row for _, row in sorted(rows)))
    found.append(made)
    return made
