"""Normalise changes, so that equal ones can be counted as votes.

Agentless (Xia et al., 2024) compares patches after removing layout, comments and docstrings from both versions of a
file. Here this works in every language, by ``canonical``.
"""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence

from assay.agents.solvers.shared.canonical import canonical, plain_lines
from assay.harness.languages.syntax import Definition, definitions

TEST_NAME = "test_func"
CONTEXT = 3  # context lines of a normalised difference


def change_key(language: str, before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return the normalised difference between two states of files; equal keys mean the same change.

    Empty if only comments, docstrings or layout differ. If a file gains only whole functions, their place in the file
    is ignored. ``after`` holds the files that changed. Raises UserError for an unknown language.
    """
    parts = []
    for path, text in sorted(after.items()):
        old, new = canonical(language, path, before.get(path, "")), canonical(language, path, text)
        lines = _list_added(language, path, old, new) if before.get(path, "").strip() else []
        lines = lines or list(difflib.unified_diff(old, new, lineterm="", n=CONTEXT))[2:]
        if lines:
            parts.append("\n".join([f"### {path}", *lines]))
    return "\n".join(parts)


def _list_added(language: str, path: str, old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return the lines of new functions, prefixed with ``+``; empty if the files differ in anything else."""
    known = {each.name for each in _functions(language, path, old)}
    added = [each for each in _functions(language, path, new) if each.name not in known]
    inside = {line for each in added for line in range(each.first, each.last + 1)}
    rest = [line for number, line in enumerate(new, start=1) if number not in inside]
    return [f"+{new[number - 1]}" for number in sorted(inside)] if rest == list(old) else []


def _functions(language: str, path: str, lines: Sequence[str]) -> list[Definition]:
    return [each for each in definitions(language, path, "\n".join(lines)) if each.kind == "function"]


def differs(before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Return whether two states of files differ in more than blank lines; ``after`` holds the files that changed."""
    return any(plain_lines(before.get(path, "")) != plain_lines(text) for path, text in after.items())


def script_key(language: str, path: str, text: str) -> str:
    """Return the normal form of a test script, whose called function is ``test_func``; equal keys are one test."""
    lines = canonical(language, path, text)
    called = next(iter(_list_calls(language, path, lines)), None)
    return "\n".join(canonical(language, path, text, {called: TEST_NAME}) if called else lines)


def _list_calls(language: str, path: str, lines: Sequence[str]) -> Iterator[str]:
    """Yield the functions of a file that its top level calls, in the order of the calls."""
    functions = _functions(language, path, lines)
    names = [each.name for each in functions if "." not in each.name]
    inside = {line for each in functions for line in range(each.first, each.last + 1)}
    for number, line in enumerate(lines, start=1):
        if number not in inside:
            yield from (name for name in names if re.search(rf"\b{re.escape(name)}\s*\(", line))
