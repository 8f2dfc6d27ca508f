"""The frame of a test file that passes with the gold patch and fails with the other.

Such a file needs nothing but the project and pytest. It carries the module that turns values into text, so that it
compares what the comparison itself compared.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Protocol

from assay.harness.templates import text_environment

Shown = tuple[str, str, str]  # one look: kind, type and text, as in a ``ProbeObservation``
LONGEST_LINE = 90
FAILURE = "with the gold patch"

_FUTURE = "from __future__ "


@dataclass(frozen=True, slots=True)
class Check:
    """The check of a test file: compares observations, or logs them."""

    expected: tuple[Shown, ...] = ()
    """Gold's looks, up to the first that differs."""
    candidate: Shown = ("missing", "", "")
    """The other patch's observation at the last of these looks."""
    log: str = ""
    """File that takes every observation; nothing is compared then."""


class Draft(Protocol):
    @property
    def folder(self) -> str:
        """Folder of the file, from the top of the tree."""

    def write(self, check: Check) -> str:
        """Return the file's text; "" if there can be none."""


MakeDraft = Callable[[Mapping[str, Any], Mapping[str, str]], Draft | None]
"""Makes a draft of a probe's report and the texts of test files by path; None where nothing can be made again."""


def frame(body: str, check: Check, where: str, what: str, test: str = "", whole: bool = False) -> str:
    """Return a test file around a body that calls ``assay_check`` or uses ``AssayLook``.

    Args:
        body: Python; may begin with imports from ``__future__``.
        where: the place for the file, in words.
        what: the content of the file, in words.
        test: end of the name of the one test that runs, ``::Class::test[row]``; "" if the body has only one.
        whole: the check looks at how this test ends.
    """
    lines = body.split("\n")
    of_gold, of_candidate = _describe(check.expected[-1] if check.expected else check.candidate, check.candidate)
    texts = resources.files("assay.harness.patchdiff.probe").joinpath("texts.py").read_text(encoding="utf-8")
    return render(
        "test_file.py",
        what=what,
        gold=of_gold,
        candidate=of_candidate,
        where=where,
        future="\n".join(line for line in lines if line.startswith(_FUTURE)),
        body="\n".join(line for line in lines if not line.startswith(_FUTURE)).strip("\n"),
        check=check,
        texts=texts.rstrip(),
        test=test,
        name=test.partition("[")[0].replace("::", ".").strip("."),
        whole=whole,
    )


def render(template: str, **values: object) -> str:
    return text_environment(__package__).get_template(f"{template}.jinja").render(values)


def _describe(*several: Shown) -> list[str]:
    """Return observations, each in a line that shows where it begins to differ from the others."""
    texts = [" ".join(each for each in (kind if kind != "value" else "", *more) if each) for kind, *more in several]
    columns = zip(*texts, strict=False)
    alike = next((number for number, marks in enumerate(columns) if len(set(marks)) > 1), 0)
    if alike > LONGEST_LINE // 2 and max(map(len, texts)) > LONGEST_LINE:
        texts = ["..." + text[alike - LONGEST_LINE // 4 :] for text in texts]
    return [escape_docstring(text) for text in texts]


def escape_docstring(text: str) -> str:
    line = " ".join(text.split()).replace("\\", "\\\\").replace('"', "'")
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 3].rstrip("\\") + "..."
