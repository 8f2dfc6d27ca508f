"""What the scripts of a verifier download, read from their syntax trees. Nothing is run."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.instances.environments.shell import UnreadableError, read_command, read_statements

if TYPE_CHECKING:
    from tree_sitter import Node

INSTALLERS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("curl", "wget", "uvx", "npx"), frozenset()),
    **dict.fromkeys(("apt-get", "apt", "dnf", "yum", "gem", "pipx"), frozenset({"install"})),
    **dict.fromkeys(("npm", "pnpm", "yarn"), frozenset({"install", "i", "ci", "add", "exec", "dlx"})),
    **dict.fromkeys(("pip", "pip3"), frozenset({"install", "download"})),
    "uv": frozenset({"install", "run", "sync", "add"}),
    "apk": frozenset({"add"}),
    "go": frozenset({"get", "install", "download"}),
    "cargo": frozenset({"install", "add", "fetch"}),
    "bundle": frozenset({"install"}),
    "composer": frozenset({"install", "require"}),
    "git": frozenset({"clone"}),
}
"""Programs that download, each with the words by which it does; none if it always does."""
WRAPPERS = frozenset({"sudo", "timeout", "env", "nice", "time", "command", "exec"})
MODULE = re.compile(r"python[\d.]*")
ADDRESS = re.compile(r"https?://\S+")
PACKAGE = re.compile(r"(?:@[\w.-]+/)?[A-Za-z\d][\w.+/-]*(?:\[[\w,]+\])?(?:(?:[=~<>!]=?=?|@)\S+)?")
PINNED = re.compile(r"==|(?<![<>!~])=\d|@v?\d|^\d[\d.]*$|[-_/]v?\d+(?:\.\d+)+|[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class FetchedPart:
    """One thing that a script downloads."""

    file: str
    line: int
    tool: str
    what: str
    """A package, perhaps with its version, or an address."""

    @property
    def is_file(self) -> bool:
        return self.tool in {"curl", "wget"}

    @property
    def is_pinned(self) -> bool:
        return bool(PINNED.search(self.what))


def read_installs(scripts: Mapping[str, str]) -> list[FetchedPart]:
    """List what scripts, by their names, download in plain words; text that is no shell text has none."""
    return [FetchedPart(name, *found) for name, text in scripts.items() for found in dict.fromkeys(_read(text))]


def _read(text: str) -> Iterator[tuple[int, str, str]]:
    try:
        statements = read_statements(text)
    except UnreadableError:
        return
    for node in (node for each in statements for top in each.nodes for node in _walk(top)):
        literal = [word.text for word in read_command(node)[1] if word.is_literal]
        tool, rest = _find_installer(literal)
        line = node.start_point.row + 1
        if tool in {"curl", "wget", "git"}:
            yield from ((line, tool, word) for word in rest if ADDRESS.fullmatch(word))
        elif tool:
            packages = [word for word in rest if PACKAGE.fullmatch(word) and "://" not in word]
            pinned = {re.split(r"[=@\[]", word)[0] for word in packages if PINNED.search(word)}
            yield from ((line, tool, word) for word in packages if PINNED.search(word) or word not in pinned)


def _walk(top: "Node") -> Iterator["Node"]:
    """Yield the commands at or below a node, those in substitutions too."""
    rest = [top]
    while rest:
        node = rest.pop()
        if node.type == "command":
            yield node
        rest += reversed(node.children)


def _find_installer(words: list[str]) -> tuple[str, list[str]]:
    """Return the program of a command that downloads, and the words behind the one by which it does."""
    while words and (words[0] in WRAPPERS or re.match(r"-|\d|\w+=", words[0])):
        words = words[1:]
    if len(words) > 1 and MODULE.fullmatch(words[0]) and words[1] == "-m":
        words = words[2:]
    tool = words[0].rpartition("/")[2] if words else ""
    by = INSTALLERS.get(tool)
    at = next((number for number, word in enumerate(words) if by is not None and word in by), 0)
    return (tool, words[at + 1 :]) if by is not None and (at or not by) else ("", [])
