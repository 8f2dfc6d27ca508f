"""The functions in which two texts of a file differ, in every language. Pure."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from assay.harness.languages.syntax import Definition, definitions, innermost

WHOLE_MODULE = "<module>"  # stands for a file that differs where no function can be named
Span = tuple[int, int]  # first and last line of a function, from 1
_IDLE = re.compile(r"\s*(?:import\b|from\b|use\b|#|//|[)\]}]|$)|[\w\s,()]+$")
"""A line at a file's top level that does nothing by itself: an import or a part of one, a comment."""
_DEFINES = re.compile(r"(?:(?:export|const|let|var|static|final|pub)\s+)*(\w+)\s*(?::[^=]*)?=[^=]")


def find_changed_names(language: str, path: str, before: str | None, after: str | None) -> list[str]:
    """Return the names of the functions that differ between two texts, or use what differs at the top level.

    ``WHOLE_MODULE`` stands in where no function can be named. A text is None where there is no such file.
    """
    texts = before or "", after or ""
    lines, found = [text.splitlines() for text in texts], [definitions(language, path, text) for text in texts]
    changes = find_changed_lines(*lines)
    names = dict.fromkeys(name for at, number in changes for name in _find_names(found[at], lines[at], number))
    return list(names) or [WHOLE_MODULE] * (before != after)


def differing_spans(language: str, path: str, one: str, other: str) -> tuple[Span, ...] | None:
    """Return where the first text has the functions in which the two differ; None if they differ elsewhere, too."""
    lines = one.splitlines(), other.splitlines()
    functions = [_functions(definitions(language, path, text)) for text in (one, other)]
    found: dict[Span, None] = {}
    for at, number in find_changed_lines(*lines):
        around = next((each for each in functions[at] if each.first <= number <= each.last), None)
        spans = [(each.first, each.last) for each in functions[0] if around and each.name == around.name]
        if lines[at][number - 1].strip() and not spans:
            return None
        found.update(dict.fromkeys(spans))
    return tuple(found)


def find_changed_lines(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield 0 and the number of each line of ``before`` that is gone or changed, 1 and that of each new one."""
    for tag, start, end, from_, to in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from ((0, number) for number in range(start + 1, end + 1))
            yield from ((1, number) for number in range(from_ + 1, to + 1))


def find_defined_name(lines: Sequence[str], number: int) -> str:
    """Return the name that the top-level statement around a line defines, by how such statements look; "" if none."""
    for line in reversed(lines[:number]):
        if line[:1].strip() and line[0] not in ")]}":
            match = _DEFINES.match(line)
            return match[1] if match else ""
    return ""


def _find_names(found: Sequence[Definition], lines: Sequence[str], number: int) -> list[str]:
    """Return the names for one line: the function around it, or the functions that use the name which it defines."""
    text, functions = lines[number - 1], _functions(found)
    around = innermost(functions, number) or innermost(found, number)
    if around or _IDLE.match(text):
        return [around.name] if around and text.strip() else []
    defined = find_defined_name(lines, number)
    if not defined:
        return [WHOLE_MODULE]
    uses = re.compile(rf"\b{re.escape(defined)}\b")
    users = [each.name for each in functions if any(map(uses.search, lines[each.first - 1 : each.last]))]
    return list(dict.fromkeys(users)) or [WHOLE_MODULE]


def _functions(found: Sequence[Definition]) -> list[Definition]:
    return [each for each in found if each.kind == "function"]
