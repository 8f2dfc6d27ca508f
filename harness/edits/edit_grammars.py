"""Read search-and-replace edits from a model's answer: Agentless' and AutoCodeRover's formats."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from assay.harness.edits.file_edits import FileEdit

SEARCH = re.compile(r"\s*<{5,9} ?SEARCH\s*$")
SEPARATOR = re.compile(r"={5,9}\s*$")
REPLACE = re.compile(r"\s*>{5,9} ?REPLACE\s*$")
HEADING = re.compile(r"\s*#{1,4}\s+(?P<path>\S.*)$")
TAGGED = re.compile(
    r"<file>(?P<path>.*?)</file>\s*<original>(?P<search>.*?)</original>\s*<patched>(?P<replace>.*?)</patched>",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class ParsedEdits:
    """The edits in a text, in order, and an error for each malformed edit."""

    edits: tuple[FileEdit, ...] = ()
    problems: tuple[str, ...] = ()


def parse_search_replace(text: str, root: str = "") -> ParsedEdits:
    """Read Agentless' format: a heading ``### path``, then blocks between SEARCH and REPLACE markers, fenced or not.

    A path applies until the next heading. A block with more than one separator line is malformed, equal blocks count
    once, and a leading line ``...`` is removed from both sides.
    """
    edits: list[FileEdit] = []
    problems: list[str] = []
    path = ""
    for line, block in _blocks(text.replace("\r\n", "\n").split("\n")):
        heading = HEADING.match(line)
        if block is None:
            path = clean_path(heading["path"], root) if heading else path
            continue
        problem = _problem(path, block)
        if problem:
            problems.append(problem)
        else:
            edits.append(_edit(path, block))
    return ParsedEdits(tuple(dict.fromkeys(edits)), tuple(problems))


def _blocks(lines: list[str]) -> Iterator[tuple[str, list[str] | None]]:
    """Yield each line outside of blocks with None, and each block with its lines; an unclosed block is empty."""
    block: list[str] | None = None
    for line in lines:
        if SEARCH.match(line):
            if block is not None:
                yield "", []
            block = []
        elif block is None:
            yield line, None
        elif REPLACE.match(line):
            yield line, block
            block = None
        else:
            block.append(line)
    if block is not None:
        yield "", []


def _problem(path: str, block: list[str]) -> str:
    """Return why a block is malformed; empty if it is an edit."""
    if not block:
        return "a block has no end, or nothing in it"
    if not path:
        return "a block has no path before it"
    separators = sum(1 for line in block if SEPARATOR.match(line))
    return "" if separators == 1 else f"{path}: a block has {separators} separator lines; exactly one is needed"


def _edit(path: str, block: list[str]) -> FileEdit:
    middle = next(index for index, line in enumerate(block) if SEPARATOR.match(line))
    parts = (block[:middle], block[middle + 1 :])
    search, replace = (part[1:] if part and part[0].strip() == "..." else part for part in parts)
    return FileEdit(path, "\n".join(search), "\n".join(replace))


def parse_tagged(text: str, root: str = "") -> ParsedEdits:
    """Read AutoCodeRover's format: ``<file>``, ``<original>`` and ``<patched>`` elements, fenced or not."""
    found = list(TAGGED.finditer(text.replace("\r\n", "\n")))
    edits = (
        FileEdit(clean_path(each["path"], root), _inner(each["search"]), _inner(each["replace"])) for each in found
    )
    missing = text.count("<original>") - len(found)
    problems = (f"{missing} modification(s) lack a file, an original or a patched part",) if missing > 0 else ()
    return ParsedEdits(tuple(dict.fromkeys(edits)), problems)


def _inner(text: str) -> str:
    """Return an element's lines without blank lines at its ends."""
    lines = text.split("\n")
    while lines and not lines[0].strip():
        lines = lines[1:]
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return "\n".join(line.rstrip() if not line.strip() else line for line in lines)


def clean_path(path: str, root: str = "") -> str:
    """Return a path relative to the repository, without the quotes and marks that models put around it.

    ``root`` is the repository's folder where the model sees it; empty for none.
    """
    bare = path.strip().strip("`'\"*").strip()
    return (bare.removeprefix(root.rstrip("/") + "/") if root else bare).removeprefix("./")
