"""Operators that make calls which no test makes: each changes a test by a rule, as edits of its text.

The table `OPERATORS` has what each is called, what it changes and where. Unlike the choices of `mutate`, these follow
from what the changed code asks for. What an operator finds depends on the text and the material alone.
"""

import itertools
import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, List, NamedTuple, Tuple  # noqa: UP035

from . import mutate, values
from .brackets import Bracket, Element, TokenEdit, find_brackets, split_lines

Change = Tuple[int, List[TokenEdit]]  # noqa: UP006 - its rank, the best 0, and its edits
GOLD_BRANCH, GOLD_VALUE, OTHER_BRANCH, OTHER_VALUE = "gold_branch", "gold_value", "other_branch", "other_value"
SNIPPET = "snippet"
ASKED = frozenset((GOLD_BRANCH, GOLD_VALUE))  # give values that gold asks for
FOREIGN = frozenset((GOLD_VALUE, OTHER_BRANCH, OTHER_VALUE, "container"))  # give values that may well be refused
CONTAINED = ("[{}]", "({},)", "[{0}, {0}]", "{{'a': {}}}", "iter([{}])")
LARGE = 100  # times that a literal container is repeated
PARTNERS = 4  # other objects that one is compared with
MOST_PAIRS = 12  # of one call's options
KNOWN = 3  # values of an option that other calls of the tests give it
COPIED, PICKLED = "__import__('copy').copy({0})", "__import__('pickle').loads(__import__('pickle').dumps({0}))"
DUNDERS = (  # what one object, and one beside another, is asked
    ("__eq__", ("{0} == " + COPIED, "{0} == " + PICKLED, "{0} == object()", "{0} != {1}", "{0} == {1}", "{1} == {0}")),
    ("__hash__", ("hash({0}) == hash(" + COPIED + ")", "hash({0}) == hash({1})", "len({{{0}, {1}}})")),
    ("__lt__", ("{0} < {1}", "{1} < {0}", "{0} <= {1}", "sorted([{1}, {0}])", "{0} < object()")),
    ("__bool__", ("bool({0})",)),
    ("__len__", ("len({0})",)),
    ("__iter__", ("list({0})",)),
    ("__contains__", ("{1} in {0}", "{0} in {1}")),
    ("__repr__", ("repr({0})", "str({0})")),
    ("__reduce__", (PICKLED, "__import__('copy').deepcopy({0})")),
)


class Ground(NamedTuple):
    """A test in which operators look for places."""

    lines: "list[str]"
    function: Any
    scope: mutate.Scope
    brackets: "list[Bracket]"  # the open ones
    bound: "set[str]"

    @property
    def asked(self) -> Any:
        return self.scope.material.asked

    def calls(self) -> "list[Bracket]":
        return [each for each in self.brackets if not each.display]

    def near_calls(self) -> "list[Bracket]":
        """Return the calls of what the change is about; all calls where there is none."""
        names = {*self.asked["parameters"], *self.asked["relatives"], *self.scope.material.classes}
        return [each for each in self.calls() if each.before in names] or self.calls()

    def callee(self, call: Bracket) -> "tuple[tuple[int, int], str]":
        """Return where the dotted name of a call begins, and the name."""
        line, column = call.whole.start
        dotted = re.findall(r"[\w.]*$", self.lines[line - 1][:column])[0]
        return (line, column - len(dotted)), dotted

    def made(self, name: str) -> "list[str]":
        """Return expressions of the tests that make an object by a class's name."""
        begins = re.compile(r"(?:\w+\.)*" + re.escape(name) + r"\(")
        given = (each for known in self.scope.material.arguments.values() for each in known)
        found = [each.text for each in given if begins.match(each.text) and each.local <= self.bound]
        here = [self.callee(each)[1] + each.whole.text for each in self.calls() if each.before == name]
        return list(dict.fromkeys(found + here))

    def asked_for(self, kinds: "Sequence[str]") -> "Iterator[tuple[str, str]]":
        """Yield subjects and values; a value ``@Name`` stands for objects that the tests make of a class."""
        for kind in kinds:
            for subject, news in self.asked[kind].items():
                for new in news:
                    yield from (
                        (subject, text) for text in (self.made(new[1:])[:PARTNERS] if new[:1] == "@" else [new])
                    )

    def before(self, line: int, new: str) -> TokenEdit:
        """Return the edit that puts statements before the one that begins in a line."""
        text = self.lines[line - 1] if line <= len(self.lines) else self.lines[self.function.body[0].lineno - 1]
        indent = text[: len(text) - len(text.lstrip())]
        return TokenEdit((line, 0), (line, 0), "", "".join(indent + each + "\n" for each in new.splitlines()))

    def following(self, line: int) -> int:
        """Return the line of the statement of the function's own body after one; that after its last line if none."""
        later = (first for first in map(mutate.first_line, self.function.body) if first > line)
        return min(later, default=len(self.lines) + 1)


def _replace(part: Element, new: str) -> "list[TokenEdit]":
    return [TokenEdit(part.start, part.end, part.text, part.name + "=" + new if part.name else new)]


def _set(call: Bracket, options: "dict[str, str]") -> "list[TokenEdit]":
    """Return the edits that give a call some options; no edit where one of them is given already."""
    given = {each.name: each for each in call.parts if each.name}
    edits = [edit for name, new in options.items() if name in given for edit in _replace(given[name], new)]
    added = ", ".join(name + "=" + new for name, new in options.items() if name not in given)
    if added:
        edits.append(TokenEdit(call.inside.end, call.inside.end, "", ", " * bool(call.parts) + added))
    return [] if any(each.old and each.old == each.new for each in edits) else edits


def _put(*kinds: str) -> "Callable[[Ground], Iterator[Change]]":
    """Put the values that conditions ask for where calls have their subject, by its name."""

    def find(ground: Ground) -> "Iterator[Change]":
        for call in ground.calls():
            parameters = ground.asked["parameters"].get(call.before, ())
            named = {each.name or "".join(parameters[at : at + 1]): each for at, each in enumerate(call.parts)}
            for subject, new in ground.asked_for(kinds):
                if subject in (*named, *parameters):
                    yield 0, _replace(named[subject], new) if subject in named else _set(call, {subject: new})

    return find


def _put_anywhere(*kinds: str) -> "Callable[[Ground], Iterator[Change]]":
    """Put them in place of any argument or item: a test may be far from the condition."""

    def find(ground: Ground) -> "Iterator[Change]":
        news = list(dict.fromkeys(new for _, new in ground.asked_for(kinds)))
        for part in (each for bracket in ground.brackets for each in bracket.parts if each.text[:1] != "*"):
            yield from ((0, _replace(part, new)) for new in news if new != part.text)

    return find


def _contain(ground: Ground) -> "Iterator[Change]":
    displays = [each for each in ground.brackets if each.display]
    for part in (each for call in ground.near_calls() for each in call.parts if each.text[:1] != "*"):
        text = part.text[len(part.name) :].lstrip("= ")
        news = [each.format(text) for each in CONTAINED]
        for display in (each for each in displays if (each.whole.end, each.whole.text) == (part.end, text)):
            news += [text[0] + text[-1], display.parts[0].text, "iter(" + text + ")"]
            news += [text + " * " + str(LARGE)] * (text[0] != "{")
        if isinstance(values.read_literal(text), str):
            news += [text + ".encode()", text + ".encode('utf-16')"]
        yield from ((0, _replace(part, new)) for new in news)


def _options(ground: Ground, call: Bracket) -> "dict[str, list[str]]":
    """Return the options that a call may be given: of the changed code, then what other calls and its branches name."""
    known: dict[str, list[str]] = {
        name: list(each) for name, each in ground.asked["keywords"].get(call.before, {}).items()
    }
    others = [each for each in ground.scope.material.arguments.get(call.before, ()) if not each.name.isdigit()]
    if others:  # it takes options: members of the same family may be among them
        for name in ground.asked["attributes"]:
            known.setdefault(name, ["True", "False"])
    for each in others:
        values_ = known.setdefault(each.name, [])
        if each.local <= ground.bound and len(values_) < KNOWN:
            values_.append(each.text)
    return known


def _keyword(ground: Ground) -> "Iterator[Change]":
    for call in ground.calls():
        for name, news in _options(ground, call).items():
            of_change = name in ground.asked["keywords"].get(call.before, ())
            yield from ((not of_change, _set(call, {name: new})) for new in news)


def _pair(ground: Ground) -> "Iterator[Change]":
    for call in ground.calls():
        options = _options(ground, call)
        pairs = itertools.islice(itertools.combinations(options, 2), MOST_PAIRS)
        for one, other in pairs:
            of_change = {one, other} & {*ground.asked["keywords"].get(call.before, ())}
            for news in itertools.product(options[one][-2:], options[other][-2:]):
                yield not of_change, _set(call, dict(zip((one, other), news)))  # noqa: B905 - not before Python 3.10


def _dunder(ground: Ground) -> "Iterator[Change]":
    touched, classes = ground.asked["dunders"], {*ground.scope.material.classes, *ground.asked["relatives"]}
    calls = [each for each in ground.calls() if each.before in classes or (touched and each.before[:1].isupper())]
    objects = {ground.callee(each)[1] + each.whole.text: each for each in calls}
    for node in ground.function.body:
        target = getattr(node, "targets", [None])[0]
        name, made = getattr(target, "id", ""), getattr(getattr(node, "value", None), "func", None)
        if name and getattr(made, "attr", getattr(made, "id", "")) in {each.before for each in calls}:
            objects[name] = next(each for each in calls if each.whole.start[0] >= node.lineno)
    ranked = sorted(DUNDERS, key=lambda row: row[0] not in touched)
    for one, call in objects.items():
        first = mutate.find_role(ground.scope, call.whole.start[0])[0]
        place = ground.following(call.whole.start[0]) if one.isidentifier() else first
        for other in [each for each in objects if each != one][:PARTNERS] or ["object()"]:
            asked = "\n".join(each.format(one, other) for _, row in ranked for each in row)
            yield 0, [ground.before(place, asked)]


def _sequence(ground: Ground) -> "Iterator[Change]":
    known = ground.scope.material.arguments
    for call in ground.near_calls():
        dotted = ground.callee(call)[1]
        place = mutate.find_role(ground.scope, call.whole.start[0])[0]
        if "\n" in call.whole.text or not dotted or place <= ground.function.lineno:
            continue
        yield 0, [ground.before(place, dotted + call.whole.text)]
        for each in known.get(call.before, ()):
            if each.local <= ground.bound and call.parts and call.parts[0].text != each.text:
                given = each.text if each.name.isdigit() else call.parts[0].text + ", " + each.name + "=" + each.text
                yield 1, [ground.before(place, dotted + "(" + given + ")")]


def _class(ground: Ground) -> "Iterator[Change]":
    for call in ground.calls():
        start, dotted = ground.callee(call)
        for rank, news in enumerate((ground.asked["relatives"].get(call.before, ()), [mutate.SUBCLASS.format(dotted)])):
            if call.before in ground.asked["relatives"] or call.before in ground.scope.material.classes:
                yield from ((rank, [TokenEdit(start, call.whole.start, dotted, new)]) for new in news)


def _option(ground: Ground) -> "Iterator[Change]":
    words = [repr(each) for each in ground.asked["words"]]
    for bracket in ground.brackets:
        texts = [values.read_literal(each.text) for each in bracket.parts if not each.name]
        dashed = any(isinstance(each, str) and each[:1] == "-" for each in texts)
        if texts and bracket.whole.text[0] != "{" and all(isinstance(each, str) for each in texts):
            fit = [each for each in words if not dashed or each[1] == "-"]
            for several in [(each,) for each in fit] + list(itertools.combinations(fit[:4], 2)):
                added = ", " + ", ".join(several)
                yield not dashed, [TokenEdit(bracket.parts[-1].end, bracket.parts[-1].end, "", added)]


class Operator(NamedTuple):
    name: str
    changes: str
    find: "Callable[[Ground], Iterator[Change]]"


OPERATORS = (
    Operator(GOLD_BRANCH, "a parameter gets a value on either side of a condition that gold asks", _put("gold")),
    Operator(GOLD_VALUE, "such a value in place of any argument", _put_anywhere("gold")),
    Operator(OTHER_BRANCH, "the same for other conditions, and empty values", _put("candidate", "empty")),
    Operator(OTHER_VALUE, "such a value in place of any argument", _put_anywhere("candidate", "empty")),
    Operator("container", "an argument in a container, out of one; an empty, a large, an encoded one", _contain),
    Operator("keyword", "an option of a call: its default said out loud, other values, its family", _keyword),
    Operator("pair", "two options of a call together", _pair),
    Operator("dunder", "fresh objects are compared, hashed, ordered, copied, pickled, counted", _dunder),
    Operator("sequence", "a call is made twice, or after one with other arguments", _sequence),
    Operator("class", "a sibling, base, child or subclass in place of a changed class", _class),
    Operator("option", "quoted words of the change as further texts, one and two at a time", _option),
)
Copy = Tuple[str, str, List[TokenEdit], Any]  # noqa: UP006 - an operator, and a changed test: text, edits, function


def make_copies(text: str, scope: mutate.Scope, seed: str, count: int) -> "list[Copy]":
    """Return up to `count` changed copies of a test, the material's operators in turns, the best changes first.

    A copy has one change in each of its assertions, since these do not touch one another, or one elsewhere.
    """
    tokens, function, choice = mutate.find_tokens(text), mutate.parse_function(text), random.Random(seed)
    brackets = [each for each in find_brackets(text, tokens) if not scope.is_closed(each.whole.start)]
    ground = Ground(split_lines(text), function, scope, brackets, mutate.find_bound(function))
    queues = [_order(each, ground, choice, count) for each in OPERATORS if each.name in scope.material.operators]
    turns = (each for turn in itertools.zip_longest(*queues) for each in turn if each is not None)
    found, seen = [], {text}  # type: list[Copy], set[str]
    for name, edits in turns:
        if len(found) == count:
            break
        changed = mutate.apply(text, edits)
        parsed = mutate.parse_copy(changed, edits) if changed and changed not in seen else None
        seen.add(changed)
        if parsed is not None:
            found.append((name, changed, edits, parsed))
    return found


def _order(operator: Operator, ground: Ground, choice: random.Random, count: int) -> "list[tuple[str, Any]]":
    """Return an operator's changes: of each assertion one at once, and between these the others, one by one."""
    ranked = [(int(rank), choice.random(), edits) for rank, edits in operator.find(ground) if edits]
    apart, single = {}, []  # type: dict[int, list[list[TokenEdit]]], list[list[TokenEdit]]
    for _, _, edits in sorted(ranked):
        first, role = mutate.find_role(ground.scope, edits[0].start[0])
        alone = role != mutate.ASSERTION or mutate.is_repetition(edits[0])
        (single if alone else apart.setdefault(first, [])).append(edits)
    together = [
        [edit for edits in several if edits for edit in edits] for several in itertools.zip_longest(*apart.values())
    ]
    turns = itertools.zip_longest(together[:count], single[:count])
    return [(operator.name, edits) for turn in turns for edits in turn if edits]
