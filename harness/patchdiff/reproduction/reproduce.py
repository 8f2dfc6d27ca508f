"""Test files that show a divergence to a person: they pass with the gold patch and fail with the other.

They need nothing but the project and pytest. How values are made comparable is written into each file, from the same
source that the comparison itself used.
"""

import ast
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, Protocol

Shown = tuple[str, str, str]
"""What a test file saw: kind, type and text, as in an ``ProbeObservation``."""
LONGEST_LINE = 90

_FILE = '''\
"""A patch differs from the gold patch here, found by Assay (PatchDiff). Passes with gold, fails with the patch.

{what}
    with the gold patch: {gold}
    with the other: {candidate}
{where}, and run it there with pytest.
"""

{future}import contextlib
import functools

import pytest

{body}


# What is seen with the gold patch, each time that the test comes by: kind, type, text.
ASSAY_EXPECTED = {expected}


def assay_check(shown):
    """Fail if something else is seen than with the gold patch."""
    if ASSAY_EXPECTED:
        expected = ASSAY_EXPECTED.pop(0)
        if shown != expected:
            pytest.fail("with the gold patch {{}}, here {{}}".format(expected, shown))


class AssayLook:
    """Looks at what the lines inside come to: the value they give it, or an exception, which ends here."""

    def __init__(self, draw=True, goes_on=False):
        self.draw = draw
        self.goes_on = goes_on

    def __enter__(self):
        return self

    def __exit__(self, kind, error, where):
        describe, _, type_name = assay_texts()
        if error is not None:
            assay_check(("error", type_name(error), ""))
        elif hasattr(self, "value"):
            assay_check(("value", type_name(self.value), describe(self.value, self.draw)))
        else:
            assay_check(("value", "", "no exception"))
        return not self.goes_on


def assay_whole(test):
    """Look at how a whole test ends."""

    @functools.wraps(test)
    def looked_at(*args, **kwargs):
        with AssayLook():
            test(*args, **kwargs)

    return looked_at


def assay_texts():
{normaliser}
    return describe, settle, type_name
{tail}'''

_SEEN = '''\
def assay_seen(function, given):
    """What a call returns or raises, leaves in its arguments, and prints."""
    describe, settle, type_name = assay_texts()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result = function(*given[0], **given[1])
            outcome = ("value", type_name(result), describe(result))
        except BaseException as error:
            outcome = ("error", type_name(error), "")
    return {{
        "return": outcome,
        "arguments": ("value", "", describe({left})),
        "stdout": ("value", "", settle(printed.getvalue())),
    }}'''

_CALL = """\
import importlib
import io


def arguments():
{arguments}


def test_the_call_does_what_it_does_with_the_gold_patch():
    function = importlib.import_module({module!r})
    for name in {qualname!r}.split("."):
        function = getattr(function, name)
    assay_check(assay_seen(function, arguments())[{part!r}])


{seen}"""

_PLAIN = "    return {literal}"
_PICKLED = """\
    import base64
    import pickle

    return pickle.loads(base64.b64decode({pickled!r}))"""
_FUTURE = "from __future__ "


@dataclass(frozen=True, slots=True)
class Reduction:
    """What a test file is written without."""

    without: frozenset[str] = frozenset()
    """Parts left out."""
    rows: Mapping[str, int] = field(default_factory=dict)
    """Arguments of a parametrization, to the number of the one row that stays."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What a test file sees with gold, look by look up to the first that differs, and what the other patch shows."""

    gold: tuple[Shown, ...] = ()
    candidate: Shown = ("missing", "", "")


class Draft(Protocol):
    """A test file in the making, which can be written with fewer parts."""

    @property
    def folder(self) -> str:
        """Where the file has to lie, seen from the top of the tree."""
        ...

    @property
    def row(self) -> str:
        """The end of the name of the one test of the file that is meant; "" if it has one only."""
        ...

    @property
    def parts(self) -> tuple[str, ...]:
        """What may be left out, the parts that matter least to a reader last."""
        ...

    def inside(self, part: str) -> frozenset[str]:
        """Return the parts that are gone when a part is."""
        ...

    def write(self, reduction: Reduction, told: Difference) -> str:
        """Return the file's text, which compares with what gold shows, if that is told; "" if there can be none."""
        ...


def frame(body: str, told: Difference, where: str, what: str, wrapped: tuple[str, str] | None = None) -> str:
    """Return a test file: a body that calls ``assay_check`` or uses ``AssayLook``, and these.

    Args:
        body: Python; may begin with imports from ``__future__``.
        told: what ``assay_check`` compares with, call by call; it compares nothing if there is nothing.
        where: a person has to lay the file.
        what: it shows.
        wrapped: name of a test, and of the function of the file that it is wrapped in, if it is.
    """
    lines = body.split("\n")
    future = [line for line in lines if line.startswith(_FUTURE)]
    body = "\n".join(line for line in lines if not line.startswith(_FUTURE)).strip("\n")
    of_gold, of_candidate = _in_words(told.gold[-1] if told.gold else told.candidate, told.candidate)
    return _FILE.format(
        what=what,
        gold=of_gold,
        candidate=of_candidate,
        where=where,
        future="\n".join([*future, "", ""]) if future else "",
        body=body,
        expected=_listed(told.gold),
        normaliser=textwrap.indent(_carried("texts.py").rstrip(), "    "),
        tail=f"\n\n{wrapped[0]} = {wrapped[1]}({wrapped[0]})\n" if wrapped else "",
    )


def _in_words(*several: Shown) -> list[str]:
    """Return what was seen, each in a line that shows where it begins to differ from the others."""
    texts = [" ".join(each for each in (kind if kind != "value" else "", *more) if each) for kind, *more in several]
    columns = zip(*texts, strict=False)
    alike = next((number for number, marks in enumerate(columns) if len(set(marks)) > 1), 0)
    if alike > LONGEST_LINE // 2 and max(map(len, texts)) > LONGEST_LINE:
        texts = ["..." + text[alike - LONGEST_LINE // 4 :] for text in texts]
    return [in_a_docstring(text) for text in texts]


def seen_of_a_call(left: str) -> str:
    """Return the source of ``assay_seen(function, given)``, in whose file there are ``contextlib`` and ``io``.

    Args:
        left: what ``describe`` is given after the call, to tell of the arguments ``given`` (positional, by keyword).
    """
    return _SEEN.format(left=left)


def in_a_docstring(text: str) -> str:
    """Return a text as it may stand in one line of a docstring."""
    line = " ".join(text.split()).replace("\\", "\\\\").replace('"', "'")
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 3].rstrip("\\") + "..."


def _listed(expected: Sequence[Shown]) -> str:
    return "[" + "".join(f"\n    {each!r}," for each in expected) + ("\n]" if expected else "]")


def _carried(name: str) -> str:
    """Return a module of the probe, which is written to stand inside a function as well."""
    return resources.files("assay.harness.patchdiff.probe").joinpath(name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Call:
    """A test file that makes one call; its parts "e0", ... are the changes of the recorded arguments."""

    told: Mapping[str, Any]
    """What ``replay.py`` told of the call: module, qualname, part, arguments or args, mutations."""

    folder: str = "."
    row: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """The changes; all or none of them where the arguments are no plain data."""
        return tuple(f"e{number}" for number in range(len(self.told.get("mutations") or ())))

    def inside(self, _part: str) -> frozenset[str]:
        """Return nothing: no change hangs on another."""
        return frozenset()

    def write(self, reduction: Reduction, told: Difference) -> str:
        """Return the file; "" for changed arguments that are no plain data."""
        arguments = self._arguments(reduction.without)
        if not arguments:
            return ""
        body = _CALL.format(
            arguments=arguments,
            seen=seen_of_a_call("given, inside=True"),
            **{name: self.told[name] for name in ("module", "qualname", "part")},
        )
        return frame(body, told, "Lay it at the top of the repository", f"The call is of {self.told['qualname']}:")

    def _arguments(self, without: Collection[str]) -> str:
        mutations = self.told.get("mutations") or ()
        if not self.told.get("arguments"):
            is_original = set(self.parts) <= set(without)
            return _PICKLED.format(pickled=self.told["args"]) if self.told.get("args") and is_original else ""
        try:
            given = ast.literal_eval(self.told["arguments"])
            for number in reversed(range(len(mutations))):
                if f"e{number}" in without:
                    given = _replaced(given, mutations[number]["path"], ast.literal_eval(mutations[number]["old"]))
        except (ValueError, SyntaxError, LookupError, TypeError):
            return ""
        return _PLAIN.format(literal=repr(given))


def _replaced(root: Any, path: Sequence[Sequence[Any]], new: Any) -> Any:
    """Return plain data with another value at a place inside it; raises LookupError or TypeError without the place."""
    if not path:
        return new
    kind, where = path[0]
    if isinstance(root, dict):
        key = ast.literal_eval(where) if kind == "key" else where
        return {**root, key: _replaced(root[key], path[1:], new)}
    items = [*root[:where], _replaced(root[where], path[1:], new), *root[where + 1 :]]
    return items if isinstance(root, list) else tuple(items)


MakeDrafts = Callable[[Mapping[str, Any], Mapping[str, str]], list[Draft]]
"""Makes drafts, the shortest first, of what a program told of a probe and the texts of test files by path."""


def call_drafts(line: Mapping[str, Any], _sources: Mapping[str, str]) -> list[Draft]:
    """Return the draft of a call that ``replay.py`` told of."""
    told = line.get("literal") or {}
    return [Call(told)] if told.get("module") else []
