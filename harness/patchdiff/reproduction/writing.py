"""The frame of a test file that passes with the gold patch and fails with the other.

Such a file needs nothing but the project and pytest. It carries the module that turns values into text, so that it
compares what the comparison itself compared.
"""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Protocol

Shown = tuple[str, str, str]
"""One look: kind, type and text, as in a ``ProbeObservation``."""
LONGEST_LINE = 90
FAILURE = "with the gold patch"
"""Beginning of a failed check's message."""

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


{check}


class AssayLook:
    """Looks at the value that the lines inside give it, or at their exception, which ends here."""

    def __init__(self, draw=True, reraise=False):
        self.draw = draw
        self.reraise = reraise

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
        return not self.reraise


def assay_whole(test):
    """Look at how a whole test ends."""

    @functools.wraps(test)
    def looked_at(*args, **kwargs):
        with AssayLook():
            test(*args, **kwargs)

    return looked_at


def assay_texts():
{texts}
    return describe, settle, type_name
{tail}'''

_COMPARE = '''\
# What is seen with the gold patch, each time the test comes by: kind, type, text.
ASSAY_EXPECTED = {expected}


def assay_check(shown):
    """Fail if something else is seen than with the gold patch."""
    if ASSAY_EXPECTED:
        expected = ASSAY_EXPECTED.pop(0)
        if shown != expected:
            pytest.fail("with the gold patch {{}}, here {{}}".format(expected, shown))'''

_LOG = '''\
def assay_check(shown):
    """Write down what is seen."""
    import json

    with open({log!r}, "a") as out:
        out.write(json.dumps(shown) + "\\n")'''

_ONLY = '''


@pytest.fixture(autouse=True)
def assay_only(request):
    """Skip the other tests of this file."""
    if not request.node.nodeid.endswith({test!r}):
        pytest.skip("another test")
'''

_FUTURE = "from __future__ "


@dataclass(frozen=True, slots=True)
class Check:
    """The check of a test file: compares what it sees, or writes it down."""

    expected: tuple[Shown, ...] = ()
    """Seen with gold, look by look, up to the first look that differs."""
    candidate: Shown = ("missing", "", "")
    """Seen with the other patch at the last of these looks."""
    log: str = ""
    """File that everything seen is written to; nothing is compared then."""


class Draft(Protocol):
    """A test file in the making."""

    @property
    def folder(self) -> str:
        """Folder that the file has to be in, from the top of the tree."""

    def write(self, check: Check) -> str:
        """Return the file's text; "" if there can be none."""


MakeDraft = Callable[[Mapping[str, Any], Mapping[str, str]], Draft | None]
"""Makes a draft of what a probe reported and the texts of test files by path; None where nothing can be made again."""


def frame(body: str, check: Check, where: str, what: str, test: str = "", wrapper: str = "") -> str:
    """Return a test file around a body that calls ``assay_check`` or uses ``AssayLook``.

    Args:
        body: Python; may begin with imports from ``__future__``.
        check: what ``assay_check`` does.
        where: a person has to put the file.
        what: it shows.
        test: end of the name of the one test that runs, ``::Class::test[row]``; "" if the body has only one.
        wrapper: function of the file that this test is wrapped in; "" if none.
    """
    lines = body.split("\n")
    future = [line for line in lines if line.startswith(_FUTURE)]
    body = "\n".join(line for line in lines if not line.startswith(_FUTURE)).strip("\n")
    of_gold, of_candidate = _in_words(check.expected[-1] if check.expected else check.candidate, check.candidate)
    texts = resources.files("assay.harness.patchdiff.probe").joinpath("texts.py").read_text(encoding="utf-8")
    name = test.partition("[")[0].replace("::", ".").strip(".")
    return _FILE.format(
        what=what,
        gold=of_gold,
        candidate=of_candidate,
        where=where,
        future="\n".join([*future, "", ""]) if future else "",
        body=body,
        check=_LOG.format(log=check.log) if check.log else _COMPARE.format(expected=_listed(check.expected)),
        texts=textwrap.indent(texts.rstrip(), "    "),
        tail=(_ONLY.format(test=test) if test else "") + (f"\n\n{name} = {wrapper}({name})\n" if wrapper else ""),
    )


def _in_words(*several: Shown) -> list[str]:
    """Return what was seen, each in a line that shows where it begins to differ from the others."""
    texts = [" ".join(each for each in (kind if kind != "value" else "", *more) if each) for kind, *more in several]
    columns = zip(*texts, strict=False)
    alike = next((number for number, marks in enumerate(columns) if len(set(marks)) > 1), 0)
    if alike > LONGEST_LINE // 2 and max(map(len, texts)) > LONGEST_LINE:
        texts = ["..." + text[alike - LONGEST_LINE // 4 :] for text in texts]
    return [in_a_docstring(text) for text in texts]


def in_a_docstring(text: str) -> str:
    """Return a text as it may stand in one line of a docstring."""
    line = " ".join(text.split()).replace("\\", "\\\\").replace('"', "'")
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 3].rstrip("\\") + "..."


def _listed(expected: Sequence[Shown]) -> str:
    return "[" + "".join(f"\n    {each!r}," for each in expected) + ("\n]" if expected else "]")
