"""Determinacy: whether what the tests ask for is stated anywhere but in the gold patch.

Annotators of SWE-bench found by hand that 61 % of its instances have tests that may reject a valid fix (OpenAI,
SWE-bench Verified, 2024). Names, signatures, messages and constants are the part of these that syntax shows: the gold
patch brings them, the tests ask for them, and a correct fix that chooses others fails.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import PurePosixPath

from assay.instances.audit.asked import AskedFor, read_tests
from assay.instances.audit.code import literals, names_defined, tokens, words
from assay.instances.audit.finding import AuditFinding, AuditKind, Demand, DemandKind, Severity, StatedIn
from assay.instances.audit.subject import Subject, find_added_code, is_source, plain

MIN_TEXT, MIN_WORDS = 12, 2  # least characters and words of a message; what has fewer is a constant
MIN_CONSTANT = 4  # least length of a constant
ALIKE = 0.8  # least share of its words that a message has from an old one that it is made like
_COMPOUND = re.compile(r".*(?:[a-z0-9][A-Z]|\w_+\w)")
_PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|%[-+.\d]*[a-zA-Z]|\{[^{}]*\}|\$\{[^}]*\}|#\{[^}]*\}|\\.")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def find_undetermined(subject: Subject) -> Iterator[AuditFinding]:
    """Find what the tests ask for and only the gold patch says; raises EnvironmentFailure if the tree cannot be read.

    It is a fault if an assertion or a call asks for it and the tree was searched; without a tree, only an imported name
    is one. An instance whose demands are all stated has a note with the places.
    """
    asked = read_tests(subject)
    found = [*_locate(subject, {each.text: each for each in _list_demands(subject, asked)}.values())]
    nowhere = [each for each in found if each.stated is StatedIn.NOWHERE]
    sure = [each for each in nowhere if each.asserted and (subject.tree or each.text in asked.imported)]
    if nowhere:
        severity = Severity.FAULT if sure else Severity.DOUBT
        where = "issue, hints and tree do" if subject.tree else "the issue does"
        summary = f"the tests ask for {len(nowhere)} of {len(found)} things that {where} not say"
        finding = subject.make_finding(AuditKind.UNDETERMINED, severity, summary, map(str, sure or nowhere))
    else:
        summary = f"all that the tests ask for and the gold patch brings is stated: {len(found)}"
        finding = subject.make_finding(AuditKind.DETERMINED, Severity.NOTE, summary, map(str, found))
    if found:
        yield finding.model_copy(update={"demands": tuple(found)})


def _list_demands(subject: Subject, asked: AskedFor) -> Iterator[Demand]:
    given = _join_tokens(asked.others)
    expected = {text: place for text, place in asked.expected.items() if _join_tokens([text]) not in given}
    yield from _find_values(subject, asked.others, asserted=False)
    yield from _find_values(subject, expected, asserted=True)
    yield from _find_files(subject, {**asked.others, **asked.expected})
    yield from _find_signatures(subject, asked)
    yield from _find_names(subject, asked)


def _find_names(subject: Subject, asked: AskedFor) -> Iterator[Demand]:
    """Find names that the gold patch defines and the tests use.

    A name on the old side of either patch is known. A plain word (``read``) counts only if it is defined at the top
    level of a file: a method of that name may well be inherited.
    """
    known = asked.own | words("\n".join(_list_old(subject)))
    for line in subject.find_added_code():
        for name in names_defined(line, subject.instance.language):
            if (not line[:1].isspace() or _COMPOUND.match(name)) and name in asked.names and name not in known:
                yield Demand(kind=DemandKind.NAME, text=name, brought=_cut(line), asked=asked.names[name])


def _find_files(subject: Subject, values: Mapping[str, str]) -> Iterator[Demand]:
    """Find files that the gold patch adds and the tests name; only patches that hold a part of the tests have some."""
    for path in (PurePosixPath(change.path) for change in subject.gold if change.new not in {None, change.old}):
        place = next((values[value] for value in values if PurePosixPath(value).name == path.name), None)
        if place:
            yield Demand(kind=DemandKind.NAME, text=path.name, brought=str(path), asked=place)


def _find_signatures(subject: Subject, asked: AskedFor) -> Iterator[Demand]:
    """Find functions that are given other parameters, where the tests change their calls."""
    hunks = [hunk for change in subject.tests for hunk in change.hunks]
    called = "\n".join(line.text for hunk in hunks for line in hunk.lines if line.mark == "-")
    for hunk in (hunk for change in subject.fix() for hunk in change.hunks):
        old, new = (
            {name: line.text for line in hunk.lines if line.mark == mark for name in _list_heads(line.text, subject)}
            for mark in "-+"
        )
        for name in sorted(old.keys() & new.keys() & asked.names.keys()):
            known = words(old[name])
            added = dict.fromkeys(each for each in re.findall(r"\w+", new[name]) if each not in known)
            if added and new[name].count(",") != old[name].count(",") and re.search(rf"\b{name}\(", called):
                text = f"{name}({', '.join(added)})"
                yield Demand(kind=DemandKind.SIGNATURE, text=text, brought=_cut(new[name]), asked=asked.names[name])


def _list_heads(line: str, subject: Subject) -> tuple[str, ...]:
    return names_defined(line, subject.instance.language) if "(" in line else ()


def _find_values(subject: Subject, values: Mapping[str, str], *, asserted: bool) -> Iterator[Demand]:
    """Find messages and constants that the gold patch brings, in its code or in a file of data.

    A value counts as it is if the gold patch has it; otherwise a part of a message does, between its placeholders.
    """
    brought = dict[str, str]()
    for change in subject.gold:
        is_code = is_source(change.path, subject.instance.language)
        for line in find_added_code(change, subject.instance.language) if is_code else change.added():
            brought.update((text, line) for text in (literals(line) if is_code else [line]))
    joined, known = _join_tokens(brought), _join_tokens(_list_old(subject))
    split = ((piece.strip(), line) for text, line in brought.items() for piece in _PLACEHOLDER.split(text))
    pieces = {_join_tokens([piece]): (piece, line) for piece, line in split if _is_message(piece)}
    for value, place in values.items():
        own = _join_tokens([value])
        whole = own.strip() and own in joined
        line = next((line for text, line in brought.items() if value in text), "")
        parts = [(value, line)] if whole else [found for piece, found in pieces.items() if piece in own]
        for text, line in parts:
            is_message = _is_message(text)
            enough = is_message or (asserted and len(text) >= MIN_CONSTANT and not text.isalpha())
            if enough and _join_tokens([text]) not in known:
                kind = DemandKind.MESSAGE if is_message else DemandKind.CONSTANT
                yield Demand(kind=kind, text=text, brought=_cut(line), asked=place, asserted=asserted)


def _is_message(text: str) -> bool:
    return len(text.strip()) >= MIN_TEXT and len(re.findall(r"[^\W\d_]{2,}", text)) >= MIN_WORDS


@dataclass(frozen=True)
class _Statement:
    """The statement or the hints, and their words in several forms."""

    place: StatedIn
    text: str

    @cached_property
    def words(self) -> frozenset[str]:
        return words(self.text)

    @cached_property
    def tokens(self) -> str:
        return _join_tokens([self.text])

    @cached_property
    def parts(self) -> str:
        return _join_parts(self.text)

    def find(self, demand: Demand) -> Demand | None:
        """Return a demand with the line that states it; another spelling of the same words is a convention."""
        own = _join_parts(demand.text)
        if demand.kind is DemandKind.SIGNATURE:
            stated = [part for part in own.split()[1:] if f" {part} " in self.parts and len(part) > 2]
            return self._quote(demand, self.place, stated[0]) if stated else None
        is_name = demand.kind is DemandKind.NAME
        if (
            demand.text in self.words
            if demand.text.isidentifier() and is_name
            else _join_tokens([demand.text]) in self.tokens
        ):
            return self._quote(demand, self.place, demand.text)
        if own.strip() and own in self.parts:
            return self._quote(demand, StatedIn.CONVENTION if is_name else self.place, own.split()[0])
        return None

    def _quote(self, demand: Demand, place: StatedIn, text: str) -> Demand:
        lines = [*enumerate(self.text.split("\n"), 1)]
        number, line = next(((at, line) for at, line in lines if text.lower() in line.lower()), lines[0])
        return demand.model_copy(update={"stated": place, "file": str(self.place), "line": number, "quote": _cut(line)})


def _locate(subject: Subject, demands: Iterable[Demand]) -> Iterator[Demand]:
    """Yield demands with the place where they are stated: the statement, the hints, a message like it, the tree."""
    instance, left = subject.instance, list[Demand]()
    texts = [
        _Statement(StatedIn.ISSUE, plain(instance.problem_statement)),
        _Statement(StatedIn.HINTS, plain(instance.hints)),
    ]
    for each in demands:
        found = next((found for text in texts if (found := text.find(each))), None) or _find_model(subject, each, texts)
        if found or each.kind is DemandKind.SIGNATURE:
            yield found or each
        else:
            left.append(each)
    places = subject.tree.find([each.text for each in left]) if subject.tree else {}
    for each in left:
        at = places.get(each.text)
        update = {"stated": StatedIn.TREE, "file": at.path, "line": at.line, "quote": at.quote} if at else {}
        yield each.model_copy(update=update)


def _find_model(subject: Subject, demand: Demand, texts: Iterable[_Statement]) -> Demand | None:
    """Return a demand that follows a model in the statement or in old code, as ``StatedIn.CONVENTION`` has it."""
    if demand.kind is DemandKind.NAME:
        old = words("\n".join(_list_old(subject)))
        same = next((each for each in sorted(old) if _join_parts(each) == _join_parts(demand.text)), "")
        return demand.model_copy(update={"stated": StatedIn.CONVENTION, "quote": same}) if same else None
    new, stated = _join_parts(demand.text).split(), {word for text in texts for word in text.parts.split()}
    if not re.search(r"\s", demand.text) and new and {*new} <= stated:
        return demand.model_copy(update={"stated": StatedIn.CONVENTION, "quote": " ".join(new)})
    for line in _list_old(subject) if demand.kind is DemandKind.MESSAGE else ():
        own = _join_parts(line).split()
        matched = SequenceMatcher(None, own, new, autojunk=False)
        if {*new} <= {*own} | stated and sum(block.size for block in matched.get_matching_blocks()) >= ALIKE * len(new):
            return demand.model_copy(update={"stated": StatedIn.CONVENTION, "quote": _cut(line)})
    return None


def _list_old(subject: Subject) -> Iterator[str]:
    for hunk in (hunk for change in (*subject.gold, *subject.tests) for hunk in change.hunks):
        yield hunk.section
        yield from hunk.old()


def _cut(line: str) -> str:
    return line.strip()[:160]


def _join_tokens(texts: Iterable[str]) -> str:
    """Return texts as tokens with a blank around each; without quotes, whose kind varies."""
    return f" {' '.join(token for text in texts for token in tokens(text) if token not in {chr(39), chr(92)})} "


def _join_parts(text: str) -> str:
    """Return the words of a text in lower case, those of a compound name apart, with a blank around each."""
    return f" {' '.join(each.lower() for each in _PARTS.findall(text))} "
