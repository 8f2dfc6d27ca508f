"""Reads layers; large ones in processes of their own, since cutting files into lines and words holds up all threads."""

import marshal
import os
import re
import subprocess
import sys
from array import array
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, suppress
from hashlib import md5, sha1
from itertools import chain, cycle
from subprocess import PIPE
from typing import IO
from zlib import crc32

from assay.harness.engines.layers import LayerFile
from assay.harness.errors import EnvironmentFailure
from assay.instances.leaks import secrets
from assay.instances.leaks.facts import INSIDE, Hashes, LayerFacts, is_binary, split_ids, split_lines, split_words
from assay.instances.leaks.unpacked import LARGEST, OBJECT, members, read_index

LARGE = 32 << 20
"""Bytes of files from which on a layer is read by other processes, which take half a second to start."""
READERS = min(4, os.cpu_count() or 1)
_GIT_FILE = re.compile(
    r"(?:^|.*/)(?:HEAD|[A-Z]+_HEAD|packed-refs|config|shallow|alternates|http-alternates|\.git|COMMIT_EDITMSG)$"
    r"|(?:^|.*/)(?:refs|logs|modules|worktrees)/.+"
)
"""Files of git's own, in which a few lines matter."""
_GIT_TEXT = 64 << 10
TABLES = ("files", "git", "packed", "certificates", "packaged")  # facts by path
_PROGRAM = (b"\x7fELF", b"!<arch>\n")
_COMPILED = (".pyc", ".class")
_SYSTEM = re.compile(r"(?:usr/(?!local/|src/)|s?bin/|lib)")
"""Folders of the operating system's programs, which hold no project's names."""

Contents = Iterable[tuple[str, bytes]]
"""Paths and contents of files."""
Read = tuple[LayerFacts, Collection[int], Collection[int]]
"""What files say, and hashes of their lines and words."""


def read_layer(files: Iterable[LayerFile]) -> tuple[LayerFacts, Hashes, Hashes]:
    """Return the facts, the lines and the words of a layer, which is read to its end.

    Raises EnvironmentFailure if a process that helps ends early.
    """
    entries = _Entries()
    contents, first, size = entries.open(files), list[tuple[str, bytes]](), 0
    for path, data in contents:
        first.append((path, data))
        size += len(data)
        if size > LARGE:
            break
    parts = [read_files(first)] if size <= LARGE else _share(chain(first, contents))
    facts, lines, words = zip(*parts, strict=True)
    return entries.merge(facts), _merge(lines), _merge(words)


class _Entries:
    """What the entries of a layer say by themselves."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}
        self._links: dict[str, str] = {}
        self._removed: list[str] = []
        self._emptied: list[str] = []

    def open(self, files: Iterable[LayerFile]) -> Iterator[tuple[str, bytes]]:
        """Yield the contents of files, and note the rest."""
        for file in files:
            if file.removed:
                self._removed.append(file.path)
            if file.emptied:
                self._emptied.append(file.path)
            if file.same_as:
                self._links[file.path] = file.same_as
            if file.open is None:
                continue
            with file.open() as stream:
                data = stream.read(LARGEST)
            if file.size > len(data):
                self._sizes[file.path] = file.size
            yield file.path, data

    def merge(self, parts: Iterable[LayerFacts]) -> LayerFacts:
        """Return everything about a layer, whose files these are, sorted: the number of processes does not show."""
        merged = LayerFacts(sizes=self._sizes, removed=tuple(self._removed), emptied=tuple(self._emptied))
        found: list[secrets.FoundSecret] = []
        for part in parts:
            for name in TABLES:
                getattr(merged, name).update(getattr(part, name))
            found += part.secrets
        for path, same in self._links.items():  # a link may be one to another link
            merged.files[path] = merged.files.get(same, "")
        tables = {name: dict(sorted(getattr(merged, name).items())) for name in TABLES}
        return merged.model_copy(update={**tables, "secrets": tuple(sorted(found, key=lambda each: each.path))})


def _merge(parts: Iterable[Iterable[int]]) -> Hashes:
    return Hashes(array("I", sorted(set(chain.from_iterable(parts)))))


def read_files(contents: Contents) -> Read:
    """Read files, and what archives among them hold."""
    facts, found = LayerFacts(), list[secrets.FoundSecret]()
    lines, words = set[int](), set[int]()
    for outer, outer_data in contents:
        inner = ((f"{outer}{INSIDE}{name}", data) for name, data in members(outer, outer_data))
        for path, data in chain([(outer, outer_data)], inner):
            _note(path, data, facts)
            if of_file := [*secrets.search_file(path, data)]:
                whole = md5(data, usedforsecurity=False).hexdigest()
                found += (each.model_copy(update={"md5": whole}) for each in of_file)
            _cut(path, data, lines, words)
    return facts.model_copy(update={"secrets": tuple(found)}), lines, words


def _note(path: str, data: bytes, facts: LayerFacts) -> None:
    facts.files[path] = sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    if _GIT_FILE.fullmatch(path) and not OBJECT.search(path):
        facts.git[path] = data[:_GIT_TEXT].decode(errors="replace")
    if path.endswith(".idx"):
        facts.packed[path] = read_index(data)
    if trusted := secrets.certificates(path, data):
        facts.certificates[path] = trusted
    facts.packaged.update(secrets.list_packaged(path, data))


def _cut(path: str, data: bytes, lines: set[int], words: set[int]) -> None:
    is_of_system = data.startswith(_PROGRAM) and _SYSTEM.match(path)
    names_tests = any(part in data for part in (b"Test", b"test_", b"_test"))  # most programs have none
    if not is_binary(data) or (names_tests and not is_of_system):
        words.update(map(crc32, split_words(path.encode() + b"\n" + data, compiled=path.endswith(_COMPILED))))
    if not is_binary(data):
        words.update(map(crc32, split_ids(data)))
        lines.update(map(crc32, split_lines(data)))


def _share(contents: Contents) -> list[Read]:
    """Read files in several processes; each ends with its input."""
    command = [sys.executable, "-P", "-m", __name__]  # no module of the folder in which a person is
    try:
        with ExitStack() as stack:
            readers = [
                stack.enter_context(subprocess.Popen(command, stdin=PIPE, stdout=PIPE, start_new_session=True))
                for _ in range(READERS)
            ]
            pipes = [(each.stdin, each.stdout) for each in readers if each.stdin and each.stdout]
            for each, (into, _) in zip(contents, cycle(pipes), strict=False):
                marshal.dump(each, into)
            for into, _ in pipes:
                into.close()
            return [_load(out) for _, out in pipes]
    except (OSError, EOFError) as error:
        raise EnvironmentFailure(f"a process that read a layer has ended ({error}); is memory short?") from error


def _load(out: IO[bytes]) -> Read:
    facts, *hashes = marshal.load(out)
    lines, words = array("I"), array("I")
    lines.frombytes(hashes[0])
    words.frombytes(hashes[1])
    return LayerFacts.model_validate_json(facts), lines, words


def _receive() -> Iterator[tuple[str, bytes]]:
    with suppress(EOFError):
        while True:
            yield marshal.load(sys.stdin.buffer)


def main() -> None:
    """Read files from standard input, and write what they say to standard output."""
    facts, lines, words = read_files(_receive())
    hashes = [array("I", each).tobytes() for each in (lines, words)]
    marshal.dump((facts.model_dump_json(), *hashes), sys.stdout.buffer)


if __name__ == "__main__":
    main()
