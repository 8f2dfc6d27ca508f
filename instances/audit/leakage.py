"""Solutions that the issue or its comments leak.

SWE-Bench+ (arXiv 2410.06992) found leaks by hand in every third success of an agent. Here lines are compared: how many
of the gold patch's distinctive lines occur in the text.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from assay.instances.audit.code import statement_tokens, tokens
from assay.instances.audit.finding import AuditFinding, AuditKind, LeakGrade, Severity
from assay.instances.audit.subject import Subject, plain

MOST = 0.5  # share of the distinctive lines from which on most of the solution is leaked
LONG, AROUND = 160, 40
"""Characters above which a line is shown in part, and characters then shown on each side of the match."""

_MARKS = re.compile(r"^\s*(?:>(?!>)\s?)*\s*(?:>>>|\.\.\.|\$|In \[\d+\]:|[+-](?![+-]))?\s?")
"""Marks before code in a text: quotation, prompts, those of a diff."""
_FENCE = re.compile(r"\s*(?:>\s?)*(```|~~~|\{\{\{|\}\}\})")
_PYTHON_FRAME = re.compile(r"""\s*(?:>\s*)?File ["'].*["'], line \d+""")
_FRAME = re.compile(r"\s*(?:>\s*)?at [\w.$<>/]+\s?\(.*\)\s*$")
_CHANGE = re.compile(r"github\.com/([\w.-]+/[\w.-]+)/(?:pull/\d+|commit/[0-9a-f]{7,40}|compare/\S+)")


@dataclass(frozen=True, slots=True)
class LeakedLine:
    """A line of the gold patch, and the line of a text that contains it."""

    gold: str
    line: str
    place: str
    """``a diff``, ``a code block`` or ``the text``."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text as tokens, and for each of its lines the start of its tokens and the kind of place."""

    tokens: str
    lines: tuple[str, ...]
    starts: tuple[int, ...]
    places: tuple[str, ...]


def solution_leaked(subject: Subject) -> Iterator[AuditFinding]:
    """Find the solution in the statement and in the hints, the comments made before the fix."""
    lines = subject.solution_lines()
    for kind, text in (
        (AuditKind.SOLUTION_IN_ISSUE, subject.instance.problem_statement),
        (AuditKind.SOLUTION_IN_HINTS, subject.instance.hints),
    ):
        if leaked := find_leaked(lines, text):
            yield _make_finding(subject, kind, leaked, len(lines))


def solution_linked(subject: Subject) -> Iterator[AuditFinding]:
    """Find links to changes of the same repository, which may be the fix."""
    text = f"{subject.instance.problem_statement}\n{subject.instance.hints}"
    own = subject.instance.repo.lower()
    links = dict.fromkeys(match[0] for match in _CHANGE.finditer(text) if match[1].lower() == own)
    if links:
        summary = f"links to changes of the same repository: {len(links)}"
        yield subject.make_finding(AuditKind.SOLUTION_LINKED, Severity.NOTE, summary, links)


def grade_leak(share: float) -> LeakGrade:
    """Return the grade of a share above 0."""
    if share == 1:
        return LeakGrade.EXACT
    return LeakGrade.MOST if share >= MOST else LeakGrade.SOME


def find_leaked(gold: Iterable[str], text: str) -> tuple[LeakedLine, ...]:
    """Return the lines that a text contains, compared by tokens: line breaks in the text do not matter."""
    read = _read(text)
    found = []
    for line in gold:
        at = read.tokens.find(f" {' '.join(statement_tokens(line))} ")
        if at >= 0:
            number = bisect_right(read.starts, at) - 1
            found.append(LeakedLine(line, _excerpt(read.lines[number], line), read.places[number]))
    return tuple(found)


def _excerpt(text: str, line: str) -> str:
    """Return a line of a text; of a very long one, the part around the match."""
    if len(text) <= LONG:
        return text.strip()
    signs = (r"[\"'`]" if token == "'" else re.escape(token) for token in statement_tokens(line))
    match = re.search(r"\s*".join(signs), text)
    start = max(0, match.start() - AROUND) if match else 0
    return f"...{text[start : (match.end() if match else LONG) + AROUND].strip()}..."


def _read(text: str) -> Text:
    lines = tuple(plain(text).split("\n"))
    traced = _find_traces(lines)
    cut = ["" if at in traced else " ".join(tokens(_MARKS.sub("", line, count=1))) for at, line in enumerate(lines)]
    # One blank before each line with tokens, so that matches go across empty lines.
    sizes = [len(each) + 1 if each else 0 for each in cut]
    joined = "".join(f" {each}" for each in cut if each) + " "
    return Text(joined, lines, tuple(accumulate(sizes[:-1], initial=0)), tuple(_places(lines)))


def _find_traces(lines: Sequence[str]) -> frozenset[int]:
    """Return the numbers of the lines of stack traces: they show existing code, with the error."""
    found = set()
    for at, line in enumerate(lines):
        if _PYTHON_FRAME.match(line):
            found |= {at, at + 1}
        elif _FRAME.match(line):
            found.add(at)
    return frozenset(found)


def _places(lines: Iterable[str]) -> Iterator[str]:
    fenced = diff = False
    for line in lines:
        if _FENCE.match(line):
            fenced = not fenced
            diff = "diff" in line or "patch" in line
        diff = (diff and fenced) or bool(re.match(r"\s*(?:diff --git |@@ -|Index: )", line))
        if diff or re.match(r"\s*[+-]\s{2,}\S", line):
            yield "a diff"
        else:
            yield "a code block" if fenced or re.match(r"(?:\t| {4}|\s*>>> )\s*\S", line) else "the text"


def _make_finding(subject: Subject, kind: AuditKind, leaked: tuple[LeakedLine, ...], total: int) -> AuditFinding:
    share = len(leaked) / total
    leak = grade_leak(share)
    severity = Severity.DOUBT if leak is LeakGrade.SOME else Severity.FAULT
    where = "the issue holds" if kind is AuditKind.SOLUTION_IN_ISSUE else "the comments hold"
    summary = f"{leak}: {where} {len(leaked)} of {total} distinctive lines of the gold patch"
    evidence = (f"{each.gold}  [in {each.place}: {each.line}]" for each in leaked)
    return subject.make_finding(kind, severity, summary, evidence).model_copy(update={"grade": leak, "share": share})
