"""Search in the tree of a commit that is on this machine; nothing is fetched."""

import tempfile
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from assay.harness.domain import Instance, TreeRef
from assay.harness.errors import EnvironmentFailure
from assay.instances.trees.sources import Sources, tree_ref

LARGEST = 2_000_000  # bytes of a file that is searched
HEAD = 8_000  # bytes at the start of a file; one that is zero marks a binary file
WIDTH = 160  # characters of a line that are quoted


@dataclass(frozen=True, slots=True)
class Passage:
    """A line of a file that holds a text."""

    path: str
    line: int
    """Its number, from 1."""
    quote: str


@dataclass(frozen=True, slots=True)
class SearchedTree:
    """The files of a commit."""

    sources: Sources
    ref: TreeRef

    def read(self, path: str) -> str | None:
        """Return the text of a file, None if there is none; raises EnvironmentFailure."""
        content = self.sources.read_file(self.ref, path)
        return None if content is None else content.decode(errors="replace")

    def find(self, texts: Collection[str]) -> dict[str, Passage]:
        """Return the first place of each text that is found, as whole words; raises EnvironmentFailure."""
        wanted, found = {text: text.encode() for text in texts}, dict[str, Passage]()
        with tempfile.TemporaryDirectory() as scratch:
            for entry in self.sources.read_entries(self.ref, Path(scratch)) if wanted else ():
                if len(entry.content) > LARGEST or b"\0" in entry.content[:HEAD]:
                    continue
                for text in [each for each in wanted if each not in found]:
                    at = find_word(entry.content, wanted[text])
                    if at >= 0:
                        line = entry.content.count(b"\n", 0, at)
                        quote = entry.content.split(b"\n")[line].decode(errors="replace").strip()
                        found[text] = Passage(entry.path, line + 1, quote[:WIDTH])
        return found


def open_tree(sources: Sources, instance: Instance) -> SearchedTree | None:
    """Return the tree of an instance's base if it is on this machine; files that a partial clone lacks are left out."""
    ref = tree_ref(instance)
    try:
        return SearchedTree(sources, replace(ref, lacking=sources.find_lacking(ref))) if sources.exists(ref) else None
    except EnvironmentFailure:  # a row without a commit
        return None


def find_word(content: bytes, text: bytes) -> int:
    """Return the place of a text in another that no letter, digit or underscore continues; -1 if there is none."""
    at = content.find(text)
    while at >= 0:
        before, behind = content[at - 1 : at], content[at + len(text) : at + len(text) + 1]
        if not (_joins(before, text[:1]) or _joins(text[-1:], behind)):
            return at
        at = content.find(text, at + 1)
    return -1


def _joins(left: bytes, right: bytes) -> bool:
    return all(each.isalnum() or each == b"_" for each in (left, right))
