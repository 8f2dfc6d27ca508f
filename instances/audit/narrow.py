"""Narrow tests, which only gold passes: they use names or messages that the statement does not mention. Pure.

Annotators of SWE-bench found by hand that 61 % of its instances have tests that may reject a valid fix (OpenAI,
SWE-bench Verified, 2024). Names and messages are the part of these that patches show.
"""

import re
from collections.abc import Iterator

from assay.instances.audit.code import find_lines, is_comment, literals, tokens, words
from assay.instances.audit.finding import AuditFinding, AuditKind, Severity
from assay.instances.audit.subject import Subject, plain

MIN_NAME = 4  # least length of a name; shorter ones match by chance
_COMPOUND = re.compile(r".*(?:[a-z0-9][A-Z]|\w_+\w)")
MIN_TEXT = 12  # least length of a message, in characters; it has two words at least

_NO_NAMES = frozenset({"if", "for", "while", "switch", "catch", "function", "return", "constructor", "main", "test"})
_IMPORT = re.compile(r"\s*(?:from\s+\S+\s+import\s|import\s|use\s|const\s+\{.*require|#\s*include)")
_PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|%[-+.\d]*[a-zA-Z]|\{[^{}]*\}|\$\{[^}]*\}|#\{[^}]*\}|\\.")


def names_only_in_gold(subject: Subject) -> Iterator[AuditFinding]:
    """Find names that the gold patch introduces, the tests use and the statement does not mention.

    A correct fix with another name fails such tests. A name on the old side of either patch is known. Others may exist
    elsewhere in the tree, which is not searched, so a plain word (``read``) counts only if it is defined at the top
    level of a file.
    """
    known = words("\n".join((*_old(subject), plain(subject.instance.problem_statement))))
    defined = {name: line for name, line in _find_definitions(subject) if name not in known}
    own = {name for line in _tests(subject) for name in names_defined(line, subject.instance.language)}
    evidence, imported = [], False
    for name, line in defined.items():
        used = [test for test in _tests(subject) if name in words(test)]
        if used and name not in own:
            imported |= any(_IMPORT.match(test) for test in used)
            evidence.append(f"{name}: {line.strip()[:120]}  [used: {used[0].strip()[:120]}]")
    if evidence:
        how = "import" if imported else "use"
        summary = f"names of the gold patch that the tests {how} and the statement does not mention: {len(evidence)}"
        severity = Severity.FAULT if imported else Severity.DOUBT
        yield subject.make_finding(AuditKind.NAME_ONLY_IN_GOLD, severity, summary, evidence)


def texts_only_in_gold(subject: Subject) -> Iterator[AuditFinding]:
    """Find messages that the gold patch introduces, the tests check and the statement does not mention."""
    known = _join_tokens((*_old(subject), subject.instance.problem_statement))
    tests = _join_tokens(text for line in _tests(subject) for text in literals(line))
    pieces = dict.fromkeys(
        piece for line in subject.find_added_code() for text in literals(line) for piece in _pieces(text)
    )
    found = tuple(piece for piece in pieces if _join_tokens([piece]) in tests and _join_tokens([piece]) not in known)
    if found:
        summary = f"messages that the tests check and only the gold patch introduces: {len(found)}"
        yield subject.make_finding(AuditKind.TEXT_ONLY_IN_GOLD, Severity.DOUBT, summary, found)


def names_defined(line: str, language: str) -> tuple[str, ...]:
    """Return the names that a line of code defines: functions, types, methods and top-level values."""
    found = (match[1] for pattern in find_lines(language).definitions for match in re.finditer(pattern, line))
    return tuple(
        name for name in found if len(name) >= MIN_NAME and name not in _NO_NAMES and not re.fullmatch("__.*__", name)
    )


def _find_definitions(subject: Subject) -> Iterator[tuple[str, str]]:
    for line in subject.find_added_code():
        for name in names_defined(line, subject.instance.language):
            if not line[:1].isspace() or _COMPOUND.match(name):
                yield name, line


def _old(subject: Subject) -> Iterator[str]:
    for change in (*subject.gold, *subject.tests):
        for hunk in change.hunks:
            yield hunk.section
            yield from hunk.old()


def _tests(subject: Subject) -> Iterator[str]:
    for change in subject.tests:
        yield from (line for line in change.added() if not is_comment(line, subject.instance.language))


def _pieces(text: str) -> Iterator[str]:
    """Yield the parts of a message between its placeholders that are long enough."""
    for piece in _PLACEHOLDER.split(text):
        if len(piece.strip()) >= MIN_TEXT and len(re.findall(r"[^\W\d_]{2,}", piece)) >= 2:
            yield piece.strip()


def _join_tokens(texts: "Iterator[str] | tuple[str, ...] | list[str]") -> str:
    """Return texts as tokens with a blank around each; without quotes, whose kind varies."""
    return f" {' '.join(token for text in texts for token in tokens(text) if token not in {chr(39), chr(92)})} "
