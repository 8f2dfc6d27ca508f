"""What the audit keeps of a layer, so that each is read once and not for every instance: names, hashes and settings."""

import re
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha1
from pathlib import Path

from pydantic import Field

from assay.harness.domain import Model
from assay.harness.engines.layers import LayerFile, OpenLayer
from assay.harness.files import code_edition, read_model, replace_file
from assay.instances.leaks import secrets as secret_rules
from assay.instances.leaks.unpacked import LARGEST, OBJECT, members, read_index

SHORTEST_LINE, SHORTEST_WORD = 12, 8
"""Characters of the lines and words that are kept; of shorter ones there are too many."""
MANY_PARTS = 50  # texts that are looked for in a file one by one; for more, cutting the file is faster
INSIDE = "!"  # stands between an archive and the path of a file in it
_NO_WORD = bytes(each if (chr(each).isalnum() and each < 128) or each == ord("_") else ord(" ") for each in range(256))
_NO_ID = bytes(each if each in b"./:[]-" else kept for each, kept in enumerate(_NO_WORD))
"""Tables that turn into a blank whatever is no part of a word, and of a test's id as most runners write it."""
_PARTS = re.compile(rb"::| \(")  # between the file, class and function of a test's id
_AROUND = b" \t\r\n\"',;"
_GIT_FILE = re.compile(
    r"(?:^|.*/)(?:HEAD|[A-Z]+_HEAD|packed-refs|config|shallow|alternates|http-alternates|\.git|COMMIT_EDITMSG)$"
    r"|(?:^|.*/)(?:refs|logs|modules|worktrees)/.+"
)
"""Files of git's own, in which a few lines matter."""
_GIT_TEXT = 64 << 10
_PROGRAM = (b"\x7fELF", b"!<arch>\n")
_COMPILED = (".pyc", ".class")
_SYSTEM = re.compile(r"(?:usr/(?!local/|src/)|s?bin/|lib)")
"""Folders of the operating system's programs, which hold no project's names."""


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


@dataclass(frozen=True, slots=True)
class Hashes:
    """A set of texts that can be asked for members, wrongly found once in thousands of questions."""

    values: "array[int]" = field(default_factory=lambda: array("I"))
    """Sorted."""

    @classmethod
    def of(cls, found: Iterable[int]) -> "Hashes":
        return cls(array("I", sorted(found)))

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

    def keep(self, layer: OpenLayer) -> KeptLayer:
        facts, lines, words = read_layer(layer.files)
        for kind, hashes in (("lines", lines), ("words", words)):
            replace_file(self._path(layer.digest, kind), hashes.values.tobytes())
        replace_file(self._path(layer.digest, "json"), facts.model_dump_json().encode())
        if layer.key != layer.digest:
            replace_file(self._path(layer.key, "is"), layer.digest.encode())
        return KeptLayer(layer.digest, facts, lines, words)

    def _read(self, digest: str, kind: str) -> Hashes:
        values: array[int] = array("I")
        values.frombytes(self._path(digest, kind).read_bytes())
        return Hashes(values)

    def _path(self, key: str, kind: str) -> Path:
        return self._folder / f"{key.removeprefix('sha256:')}.{kind}"


def read_layer(files: Iterable[LayerFile]) -> tuple[LayerFacts, Hashes, Hashes]:
    """Return the facts, the lines and the words of a layer, which is read to its end."""
    reading = _Reading()
    for file in files:
        reading.add(file)
    return reading.facts(), Hashes.of(reading.lines), Hashes.of(reading.words)


class _Reading:
    def __init__(self) -> None:
        self.lines: set[int] = set()
        self.words: set[int] = set()
        self._removed: list[str] = []
        self._emptied: list[str] = []
        self._secrets: list[secret_rules.FoundSecret] = []
        self._facts = LayerFacts()

    def facts(self) -> LayerFacts:
        removed, emptied = tuple(self._removed), tuple(self._emptied)
        return self._facts.model_copy(update={"removed": removed, "emptied": emptied, "secrets": tuple(self._secrets)})

    def add(self, file: LayerFile) -> None:
        if file.removed:
            self._removed.append(file.path)
        if file.emptied:
            self._emptied.append(file.path)
        if file.same_as:
            self._facts.files[file.path] = self._facts.files.get(file.same_as, "")
        if file.open is None:
            return
        with file.open() as stream:
            data = stream.read(LARGEST)
        if file.size > len(data):
            self._facts.sizes[file.path] = file.size
        self._text(file.path, data)
        for name, content in members(file.path, data):
            self._text(f"{file.path}{INSIDE}{name}", content)

    def _text(self, path: str, data: bytes) -> None:
        self._facts.files[path] = sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
        self._note(path, data)
        is_of_system = data.startswith(_PROGRAM) and _SYSTEM.match(path)
        names_tests = any(part in data for part in (b"Test", b"test_", b"_test"))  # most programs have none
        if not is_binary(data) or (names_tests and not is_of_system):
            self.words.update(
                map(zlib.crc32, split_words(path.encode() + b"\n" + data, compiled=path.endswith(_COMPILED)))
            )
        if not is_binary(data):
            self.words.update(map(zlib.crc32, split_ids(data)))
            self.lines.update(map(zlib.crc32, split_lines(data)))

    def _note(self, path: str, data: bytes) -> None:
        if _GIT_FILE.fullmatch(path) and not OBJECT.search(path):
            self._facts.git[path] = data[:_GIT_TEXT].decode(errors="replace")
        if path.endswith(".idx"):
            self._facts.packed[path] = read_index(data)
        self._secrets += secret_rules.search_file(path, data)
        if found := secret_rules.certificates(path, data):
            self._facts.certificates[path] = found


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
