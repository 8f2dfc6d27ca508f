"""What a change means, without how it is laid out: keys by which samples vote.

Agentless (Xia et al., 2024) compares patches after both versions of a file went through the syntax tree and lost their
comments and docstrings; here so in every language, see ``canonical``.
"""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence

from assay.agents.solvers.shared.canonical import canonical
from assay.harness.languages.syntax import Definition, definitions

TEST_NAME = "test_func"
CONTEXT = 3
"""Lines around a change that belong to it."""


def change_key(language: str, before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return the normalised difference between two states of files; equal keys are the same change.

    Empty if only comments, docstrings or layout differ. Where all that a file gains is whole new functions, it does
    not matter where in the file they stand.

    Args:
        language: name of the project's language.
        before: path to text of the files.
        after: path to text of those that changed; a new file is only here.

    Raises:
        UserError: there is no language of that name. PluginError: its grammar is not installed.
    """
    parts = []
    for path, text in sorted(after.items()):
        lines = _difference(language, path, before.get(path, ""), text)
        if lines:
            parts.append("\n".join([f"### {path}", *lines]))
    return "\n".join(parts)


def _difference(language: str, path: str, before: str, after: str) -> list[str]:
    old, new = canonical(language, path, before), canonical(language, path, after)
    added = _added_functions(language, path, old, new) if before.strip() else []
    return added or list(difflib.unified_diff(old, new, lineterm="", n=CONTEXT))[2:]


def _added_functions(language: str, path: str, old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return the lines of new functions, with ``+`` before them, if the files differ in nothing else."""
    known = {each.name for each in _functions(language, path, old)}
    added = [each for each in _functions(language, path, new) if each.name not in known]
    inside = {line for each in added for line in range(each.first, each.last + 1)}
    rest = [line for number, line in enumerate(new, start=1) if number not in inside]
    return [f"+{new[number - 1]}" for number in sorted(inside)] if rest == list(old) else []


def _functions(language: str, path: str, lines: Sequence[str]) -> list[Definition]:
    return [each for each in definitions(language, path, "\n".join(lines)) if each.kind == "function"]


def differs(before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Tell whether two states of files differ in more than blank lines.

    Args:
        before: path to text.
        after: path to text of those that changed.
    """
    return any(_filled(before.get(path, "")) != _filled(text) for path, text in after.items())


def _filled(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def script_key(language: str, path: str, text: str) -> str:
    """Return the normalised form of a test script: equal keys are the same test, whatever it is called.

    The function that the script calls from its top level is renamed to ``test_func``.

    Args:
        language: name of the project's language.
        path: of the script.
        text: its content.

    Raises:
        UserError: there is no language of that name. PluginError: its grammar is not installed.
    """
    lines = canonical(language, path, text)
    called = next(iter(_called(language, path, lines)), None)
    return "\n".join(canonical(language, path, text, {called: TEST_NAME}) if called else lines)


def _called(language: str, path: str, lines: Sequence[str]) -> Iterator[str]:
    """Yield the functions of a file that are called from outside of its functions, in the order of their calls."""
    functions = _functions(language, path, lines)
    names = [each.name for each in functions if "." not in each.name]
    inside = {line for each in functions for line in range(each.first, each.last + 1)}
    for number, line in enumerate(lines, start=1):
        if number not in inside:
            yield from (name for name in names if re.search(rf"\b{re.escape(name)}\s*\(", line))
