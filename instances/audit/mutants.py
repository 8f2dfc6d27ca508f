"""Mutants of a gold patch, with one small mistake each that good tests should notice. Pure.

The operators are classics of mutation testing (DeMillo, Lipton and Sayward 1978): a part left out, a condition negated,
a comparison shifted, a constant off by one, an empty result. They change only lines that the patch adds, so neither the
source tree nor a grammar is needed. A mutant may not compile; a run shows it.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from assay.harness.patches.diff import FileChange, Hunk, HunkLine, render
from assay.instances.audit.code import (
    drop_comment,
    drop_docstrings,
    find_lines,
    is_comment,
    is_distinctive,
    is_import,
    mask_strings,
    tokens,
)
from assay.instances.audit.subject import Subject

_COMPARISON = re.compile(r"(?<= )(?:===?|!==?|<=|>=|<|>)(?= )")
_WORD_COMPARISON = re.compile(r"(?<= )(?:is not|is|not in|in)(?= )")
_OTHER = {"==": "!=", "===": "!==", "<": "<=", ">": ">=", "is": "is not", "in": "not in"}
_OTHER |= {other: one for one, other in _OTHER.items()}
_INTEGER = re.compile(r"(?<![\w.])\d+(?![\w.])")
_BEGINS_MORE = re.compile(
    r"\s*(?:@|else\b|elif\b|elsif\b|except\b|finally\b|rescue\b|ensure\b|end\b|def\b|class\b|func\b|fn\b|case\b|when\b"
    r"|default\b|for\b|while\b|if\b|unless\b|with\b|try\b|switch\b|match\b|let\b|va[lr]\b|const\b|package\b|return\b"
    r"|fun\b|(?:private|internal|protected|public|override|lateinit)\s+\w)"
)
_DECLARES = re.compile(r"\s*(?:[A-Za-z_][\w<>\[\]:*&,.]*[\s*&]+)+[A-Za-z_]\w*\s*(?:=[^=].*)?;")
_CONTINUES = re.compile(r"(?:[,?=+]|&&|\|\||\band|\bor)\s*$")
_VERSION = re.compile(r"\s*[\w.$ ]*version\w*\s*(?::\s*\w+\s*)?:?=>?\s*[\"']\d", re.IGNORECASE)
"""Matches the number of a release, a change that no test needs to notice."""


@dataclass(frozen=True, slots=True)
class MutatedPatch:
    """A gold patch with one small mistake."""

    operator: str
    path: str
    old: str
    """The line without the mistake; of a dropped hunk, its first distinctive line."""
    new: str
    """The line with the mistake; empty if it is left out."""
    patch: str

    @property
    def description(self) -> str:
        after = f" -> {self.new.strip()}" if self.new else ""
        return f"{self.operator} in {self.path}: {self.old.strip()}{after}"


def mutants(subject: Subject, limit: int) -> tuple[MutatedPatch, ...]:
    """Return up to ``limit`` different mutants of an instance's gold patch, one of each operator in turn."""
    by_operator = [_drop_hunks(subject), *(_change_lines(subject, name, change) for name, change in OPERATORS.items())]
    found: dict[str, MutatedPatch] = {}
    for mutant in chain.from_iterable(zip_longest(*by_operator)):
        if len(found) == limit:
            break
        if mutant is not None:
            found.setdefault(mutant.patch, mutant)
    return tuple(found.values())


def negate(line: str, language: str) -> str | None:
    """Return a line with its condition negated; None if it has no condition that ends on it."""
    lines = find_lines(language)
    match = re.fullmatch(lines.condition, line, re.DOTALL) if lines.condition else None
    if match is None or not _is_balanced(mask_strings(match[2], language)):
        return None
    return match[1] + lines.negation.format(match[2].strip()) + match[3]


def shift_comparison(line: str, language: str) -> str | None:
    """Return a line with its first comparison changed, or None."""
    code = mask_strings(line, language)
    if re.match(r"\s*(?:class|template|import|from|use)\b", code):
        return None
    match = _COMPARISON.search(code)
    if match is None and find_lines(language).word_comparisons and not re.search(r"\bfor\b", code):
        match = _WORD_COMPARISON.search(code)
    return line[: match.start()] + _OTHER[match[0]] + line[match.end() :] if match else None


def off_by_one(line: str, language: str) -> str | None:
    """Return a line with its first integer increased by one, or None."""
    match = _INTEGER.search(mask_strings(line, language))
    return line[: match.start()] + str(int(match[0]) + 1) + line[match.end() :] if match else None


def nothing_returned(line: str, language: str) -> str | None:
    """Return a line that returns the empty value of its language, or None."""
    match = re.fullmatch(r"(\s*return\s+)(.+?)(;?\s*)", line, re.DOTALL)
    lines = find_lines(language)
    if match is None or not lines.nothing or match[2] == lines.nothing:
        return None
    code = mask_strings(match[2], language)
    is_kept = re.search(lines.kept_results, code) or _CONTINUES.search(code) or code.rstrip().endswith(":")
    return None if is_kept or not _is_balanced(code) else match[1] + lines.nothing + match[3]


def leave_out(line: str, language: str) -> str | None:
    """Return the replacement of a statement: an empty statement, or no text; None if the line is not a statement.

    Declarations stay, because code that uses them would not compile.
    """
    code = mask_strings(line, language).rstrip()
    if _BEGINS_MORE.match(code) or not _is_balanced(code) or re.search(r"[{}]|[:,(\[\\+|&.]$|^\s*[.)\]}?|&]", code):
        return None
    lines = find_lines(language)
    if lines.empty_statement:
        return line[: len(line) - len(line.lstrip())] + lines.empty_statement
    if ":=" in code or _DECLARES.fullmatch(code):
        return None
    ends = code.endswith(";") or not lines.semicolons
    return "" if ends and re.match(r"\s*[\w$@(*+-]", code) and re.search(r"[(=;]|\+\+|--|<<", code) else None


Operator = Callable[[str, str], str | None]
OPERATORS: dict[str, Operator] = {
    "negate condition": negate,
    "shift comparison": shift_comparison,
    "off by one": off_by_one,
    "drop statement": leave_out,
    "return nothing": nothing_returned,
}
"""Operators on one added line: each returns the changed line, empty text to drop it, or None if it does not apply."""


def _change_lines(subject: Subject, operator: str, change: Operator) -> Iterator[MutatedPatch]:
    language = subject.instance.language
    for file in subject.fix():
        for number, hunk in enumerate(file.hunks):
            for at, line in _sites(hunk, language):
                new = change(line.text, language)
                middle = (HunkLine("+", new),) if new else ()
                other = replace(hunk, lines=(*hunk.lines[:at], *middle, *hunk.lines[at + 1 :]))
                if new is not None and other != hunk and any(each.mark in "+-" for each in other.lines):
                    hunks = (*file.hunks[:number], other, *file.hunks[number + 1 :])
                    patch = _replace_file_change(subject.gold, file, replace(file, hunks=hunks))
                    yield MutatedPatch(operator, file.path, line.text, new, patch)


def _drop_hunks(subject: Subject) -> Iterator[MutatedPatch]:
    """Yield the patch without each of its hunks with a distinctive line, unless there is only one."""
    language = subject.instance.language
    found = [(file, hunk, line) for file in subject.fix() for hunk in file.hunks for line in _first(hunk, language)]
    for file, hunk, line in found if len(found) > 1 else ():
        rest = replace(file, hunks=tuple(each for each in file.hunks if each is not hunk))
        keeps_its_head = rest.hunks or any(head.startswith("rename ") for head in file.head)
        patch = _replace_file_change(subject.gold, file, rest if keeps_its_head else None)
        yield MutatedPatch("drop hunk", file.path, line.text, "", patch)


def _first(hunk: Hunk, language: str) -> list[HunkLine]:
    """Return the first distinctive changed line, if there is one and more than comments change."""
    if _tokens(hunk.old(), language) == _tokens(hunk.new(), language):
        return []
    changed = (line for line in _code(hunk, language) if line.mark in "+-" and not _VERSION.match(line.text))
    return [line for line in [next((each for each in changed if is_distinctive(each.text, language)), None)] if line]


def _tokens(lines: Iterable[str], language: str) -> tuple[str, ...]:
    return tuple(token for line in lines for token in tokens(drop_comment(line, language)))


def _sites(hunk: Hunk, language: str) -> Iterator[tuple[int, HunkLine]]:
    depth, before = 0, ""
    for at, line in enumerate(_code(hunk, language)):
        if line.mark not in " +" or not line.text.strip():
            continue
        code = mask_strings(line.text, language)
        alone = depth <= 0 and not _CONTINUES.search(before) and not before.rstrip().endswith("\\")
        idle = is_comment(line.text, language) or is_import(line.text) or _VERSION.match(line.text)
        if line.mark == "+" and alone and not idle:
            yield at, line
        depth += sum(map(code.count, "([")) - sum(map(code.count, ")]"))
        before = code


def _code(hunk: Hunk, language: str) -> Iterable[HunkLine]:
    """Return the lines of a hunk, with documentation on the new side emptied."""
    new = iter(drop_docstrings(hunk.new(), language))
    return [HunkLine(line.mark, next(new)) if line.mark in " +" else line for line in hunk.lines]


def _replace_file_change(gold: Iterable[FileChange], old: FileChange, new: FileChange | None) -> str:
    changed = (new if each is old else each for each in gold)
    return render(each for each in changed if each is not None)


def _is_balanced(code: str) -> bool:
    depth = 0
    for sign in code:
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0:
            return False
    return depth == 0
