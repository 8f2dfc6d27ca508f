"""What the audit keeps of a layer, so that each is read once and not for every instance: names, hashes and settings."""

import re
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field

from assay.harness.domain import Model
from assay.harness.files import code_edition, read_model, replace_file
from assay.instances.leaks import secrets as secret_rules

SHORTEST_LINE, SHORTEST_WORD = 12, 8
"""Characters of the lines and words that are kept; of shorter ones there are too many."""
MANY_PARTS = 50  # texts that are looked for in a file one by one; for more, cutting the file is faster
INSIDE = "!"  # stands between an archive and the path of a file in it
_NO_WORD = bytes(each if (chr(each).isalnum() and each < 128) or each == ord("_") else ord(" ") for each in range(256))
_NO_ID = bytes(each if each in b"./:[]-" else kept for each, kept in enumerate(_NO_WORD))
"""Tables that turn into a blank whatever is no part of a word, and of a test's id as most runners write it."""
_PARTS = re.compile(rb"::| \(")  # between the file, class and function of a test's id
_AROUND = b" \t\r\n\"',;"


class LayerFacts(Model):
    """What a layer holds; paths have no leading slash, and a file in an archive is ``archive!file``."""

    files: dict[str, str] = Field(default_factory=dict)
    """Regular files: the id that git gives their content."""
    sizes: dict[str, int] = Field(default_factory=dict)
    """Sizes of files that are too large to be looked at as a whole."""
    removed: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()
    git: dict[str, str] = Field(default_factory=dict)
    """Text of git's own files."""
    packed: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Ids of objects by the path of their pack's index."""
    secrets: tuple[secret_rules.FoundSecret, ...] = ()
    certificates: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Hashes of the certificates in files that clients trust, or that the operating system may trust."""
    packaged: dict[str, str] = Field(default_factory=dict)
    """Md5 of the files of settings that the operating system's packages brought."""


@dataclass(frozen=True, slots=True)
class Hashes:
    """A set of texts that can be asked for members, wrongly found once in thousands of questions."""

    values: "array[int]" = field(default_factory=lambda: array("I"))
    """Sorted."""

    def __contains__(self, text: bytes) -> bool:
        wanted = zlib.crc32(text)
        at = bisect_left(self.values, wanted)
        return at < len(self.values) and self.values[at] == wanted


@dataclass(frozen=True, slots=True)
class KeptLayer:
    """A layer's digest, its facts, and the lines and words of its files."""

    digest: str
    facts: LayerFacts
    lines: Hashes
    words: Hashes


class LayerStore:
    """Facts about layers, kept in a folder by the digests of the layers; for several processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / f"layers-{code_edition(Path(__file__).parent)}"

    def load(self, digest: str) -> KeptLayer | None:
        facts = read_model(self._path(digest, "json"), LayerFacts)
        if facts is None:
            return None
        lines, words = (self._read(digest, kind) for kind in ("lines", "words"))
        return KeptLayer(digest, facts, lines, words)

    def find_digest(self, key: str) -> str:
        """Return the digest of a layer that was read under this key, or an empty text."""
        if self._path(key, "json").is_file():
            return f"sha256:{key.removeprefix('sha256:')}"
        path = self._path(key, "is")
        return path.read_text() if path.is_file() else ""

    def keep(self, key: str, layer: KeptLayer) -> None:
        """Keep what was read of a layer, also under the engine's own key for it."""
        for kind, hashes in (("lines", layer.lines), ("words", layer.words)):
            replace_file(self._path(layer.digest, kind), hashes.values.tobytes())
        replace_file(self._path(layer.digest, "json"), layer.facts.model_dump_json().encode())
        if key != layer.digest:
            replace_file(self._path(key, "is"), layer.digest.encode())

    def _read(self, digest: str, kind: str) -> Hashes:
        values: array[int] = array("I")
        values.frombytes(self._path(digest, kind).read_bytes())
        return Hashes(values)

    def _path(self, key: str, kind: str) -> Path:
        return self._folder / f"{key.removeprefix('sha256:')}.{kind}"


def is_binary(data: bytes) -> bool:
    return b"\0" in data[:8000]


def views(data: bytes) -> Iterator[bytes]:
    """Yield a text and, if it has strings as JSON writes them, what is in these."""
    yield data
    if b"\\n" in data:
        yield data.replace(b"\\n", b"\n").replace(b'\\"', b'"').replace(b"\\t", b"\t").replace(b"\\\\", b"\\")


def normal(line: bytes) -> bytes:
    """Return a line without what may be around it in another kind of file: white space, quotes, commas, semicolons."""
    return line.strip(_AROUND)


def split_lines(data: bytes) -> set[bytes]:
    """Return normalised lines without short ones, from diffs and strings in the text too."""
    found: set[bytes] = set()
    for text in views(data):
        rows = set(text.split(b"\n"))
        found.update(row.strip(_AROUND) for row in rows)
        if b"\n+" in text:
            found.update(row[1:].strip(_AROUND) for row in rows if row.startswith(b"+"))
    return {line for line in found if len(line) >= SHORTEST_LINE}


def split_words(data: bytes, *, compiled: bool = False) -> set[bytes]:
    """Return the words of any file, without short ones; of compiled code also without what may belong to its format."""
    found = {word for word in set(data.translate(_NO_WORD).split()) if len(word) >= SHORTEST_WORD}
    if compiled:  # a name's length stands before it, and what comes next behind it; both may look like letters
        found |= {part for word in found for part in (word[1:], word[:-1], word[1:-1])}
    return found


def split_ids(data: bytes) -> set[bytes]:
    """Return candidates for ids of tests: names with two colons between them."""
    return {word for word in set(data.translate(_NO_ID).split()) if b"::" in word} if b"::" in data else set()


def longest_parts(texts: Iterable[bytes]) -> frozenset[bytes]:
    """Return the longest part of each text; the ids of a file's tests share theirs."""
    return frozenset(max(_PARTS.split(text), key=len) for text in texts)


def may_hold(data: bytes, parts: Collection[bytes]) -> bool:
    """Return whether cutting a file into lines, words or ids may give a text with one of these parts.

    For more than ``MANY_PARTS`` it does not look, and the answer is yes.
    """
    return len(parts) > MANY_PARTS or any(part in text for text in views(data) for part in parts)


def merge_layers(layers: Iterable[LayerFacts]) -> Mapping[str, int]:
    """Return the paths that a container sees, with the number of the layer that each comes from, the lowest first."""
    seen: dict[str, int] = {}
    for number, layer in enumerate(layers):
        gone, emptied = set(layer.removed), set(layer.emptied)
        if gone or emptied:
            seen = {path: at for path, at in seen.items() if not _is_gone(path, gone, emptied)}
        seen.update(dict.fromkeys(layer.files, number))
    return seen


def _is_gone(path: str, removed: set[str], emptied: set[str]) -> bool:
    outer = path.partition(INSIDE)[0]
    above = [outer[:at] for at, letter in enumerate(outer) if letter == "/"]
    return outer in removed or any(each in removed or each in emptied for each in above) or "" in emptied
