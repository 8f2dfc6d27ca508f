"""The Protocol of a test runner, and tripwires.

Tripwires are Assay's own tests beside the real ones, which show whether a runner still reports the truth. Some must
pass and some must fail, by every usual way to fail, in the same process as the expected tests. A patch that turns
failures into passes trips them. They prove nothing: code in the same process can pick its targets and spare the rest,
and an object that equals everything trips none.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from assay.harness.domain import Siblings, Status
from assay.harness.templates import read_program, read_table

PLACEHOLDER = "{tripwires}"  # stands in a test command for ``Tripwires.argument``
UNSURE = "?"  # follows a place whose process may not be there
PLACE = "@PLACE@"
"""Stands in names and sources for the place of one set of tripwires, where a run has several processes."""

EXPECTED = "expected"
"""File in ``$TRIPWIRES`` with a word of every expected test, one a line; root removes it before any test runs."""
LABELS = "labels"
"""File in ``$TRIPWIRES`` with the labels of the tests that the patch has to fix, one a line; removed as well."""


def read_placing(name: str) -> str:
    """Read a file of the folder ``placing``: a part of ``TestRunner.PLACING``, or the options that choose."""
    return read_program(__file__, f"placing/{name}")


Body = tuple[Status, str]
"""Status that a test must have, and its source, with places for numbers and names."""


def read_sources(runner: str) -> tuple[dict[str, str], dict[str, tuple[Body, ...]]]:
    """Read a table of the folder ``tripwires``: texts by name, and tests by the name of their group."""
    table = read_table(__file__, f"tripwires/{runner}.toml")
    texts = {name: text for name, text in table.items() if isinstance(text, str)}
    groups = {name: statuses for name, statuses in table.items() if isinstance(statuses, dict)}
    return texts, {
        group: tuple((Status(status), source) for status, sources in statuses.items() for source in sources)
        for group, statuses in groups.items()
    }


HAS_EXPECTED = read_placing("has_expected.sh")
"""Shell function: whether some files or folders contain an expected test; true if the instance names none."""
DEFINES_EXPECTED = read_placing("defines_expected.sh")
"""Shell function: whether files or folders define an expected test, and do more than use its name.

Its first argument finds what a definition begins with, name included (``^func +\\w+``). The others are paths.
"""

_WORDS = """
address array basic batch binary block cache chain client clock codec config context counter cursor date
decimal default delta digest domain encoding entry escape event field filter folder format frame graph group
handler hash header helpers index inner input item iterator label layout limit locale lookup mapping matrix
merge message model module name node number offset option order output packet parser path pattern point policy
pool prefix query queue range reader record region result route sample schema scope section select session
shape signal slice sort source stack state status stream string suffix symbol table target template text
thread token trace tree unicode union update utils value vector version view warning weight window worker
writer zone
"""
WORDS = _WORDS.split()  # names are made of these, so that a tripwire looks like an ordinary test
_VERBS = """
accepts adds allows calls copies creates does finds gets handles has keeps makes parses returns sets should supports
uses
"""


@dataclass(frozen=True, slots=True)
class Tripwires:
    """The tripwires of one evaluation, as sources that ``TestRunner.PLACING`` puts into the tree."""

    files: Mapping[str, str]
    """Sources by name; only root can write them in the container."""
    expected: Mapping[str, Status]
    """Status that each test must have, by a name that is one word (``\\w+``) of its id in every report and log."""
    argument: str = ""
    """Fills ``{tripwires}`` in the test command: a file, a class or a label that the runner has to be given."""


@dataclass(frozen=True, slots=True)
class Adapted:
    """A test command of somebody else that writes a report and, where it can, runs tripwires."""

    command: str
    """Shell text with the placeholders of ``Recipe.test_command``.

    It runs the tests that the original runs. Where it is one program, ``exec`` leaves no shell above it.
    """
    report_format: str
    """Format of its report (``harness.reports.FORMATS``)."""
    targets: tuple[str, ...] = ()
    """What it runs: files, packages or classes; the arguments of ``TestRunner.PLACING``."""
    runs_tripwires: bool = True
    log_format: str = ""
    """Format of its output; empty for that of the row's own log."""
    sure: bool = True
    """Whether it is known which places run."""


@dataclass(frozen=True, slots=True)
class DoubledTest:
    """A test that is to stand once more beside itself."""

    label: str
    name: str
    """Qualified and dotted, ``Outer.method``."""
    first: int
    last: int
    """Lines from 1, both included, with decorators."""

    @property
    def own_name(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def tail(self) -> str:
        """Parameters or subtests that follow the name in the label."""
        place = self.label.partition("[")[0].rfind(self.own_name)
        rest = self.label[place + len(self.own_name) :] if place >= 0 else ""
        return rest if rest.startswith(("[", "/", ":")) else ""


@dataclass(frozen=True, slots=True)
class DoubledFile:
    """A file of hidden tests with some that are to stand beside themselves."""

    path: str
    original: str
    text: str
    """The same with copies in the place of their originals; lines are those of this text."""
    tests: tuple[DoubledTest, ...]


class TestRunner(Protocol):
    """A module that knows one test runner."""

    NAME: str
    PRINTS: frozenset[Status]
    """Statuses that its output names test by test: a second witness beside the report."""
    PLACING: str
    """Shell text (``sh``) that puts tripwires into the tree.

    It runs in the root of the tree as the tests' user, after the test patch and before any code of the patch. Its
    arguments are the plan's targets; ``$TRIPWIRES`` is the folder of ``Tripwires.files``, with a file of words that the
    expected tests have (``HAS_EXPECTED``) and one of labels (``LABELS``). For every process that will run expected
    tests it prints one line: the place, a word that it has put for ``@PLACE@`` in names and sources. A question
    mark behind it says that the process may not be there, as of a program that needs a feature. A run without a line
    has no tripwires, and its verdict says so.
    """

    def tripwires(self, dice: random.Random) -> Tripwires:
        """Return tripwires whose names, order and values no patch can know beforehand."""
        ...

    def place_siblings(self, files: Sequence[DoubledFile]) -> Siblings:
        """Return copies of tests that run after their originals, in the same session; other tests have none.

        They are no part of the graded tests: a file, a class or a function of their own, or at the end of a file whose
        lines stay. Each is tried before it is used.
        """
        ...

    def adapt(self, words: Sequence[str]) -> Adapted | None:
        """Adapt a test command from a row's own script.

        Args:
            words: of the command as a shell reads them, without quotes and without assignments in front.

        Returns:
            None if it does not start this runner, or in a way that is not known to report the truth.
        """
        ...


def not_known(words: Sequence[str]) -> Adapted | None:  # noqa: ARG001 - the Protocol names it
    """Return nothing: the ``adapt`` of a runner that no row's script starts."""
    return None


def no_siblings(files: Sequence[DoubledFile]) -> Siblings:  # noqa: ARG001 - the Protocol names it
    """Return nothing: the ``place_siblings`` of a runner beside whose tests no copy can stand."""
    return Siblings()


def draw_numbers(dice: random.Random) -> dict[str, int]:
    """Return the ``number`` and the ``other`` of a test, the ``sum`` of all below ``number``, and a ``wrong`` one."""
    number, other = dice.sample(range(10, 1000), 2)
    total = sum(range(number))
    return {"number": number, "other": other, "sum": total, "wrong": total + other}


def title(dice: random.Random, name: str) -> str:
    """Return a title in prose for a test, with its name as one of the words: no shape sets it apart from others."""
    before, after = (dice.sample(WORDS, dice.randrange(3)) for _ in range(2))
    return " ".join((dice.choice(_VERBS.split()), *before, name, *after))


def snake_name(dice: random.Random) -> str:
    """Return a name such as ``cursor_label_zone``.

    Three words: a real test of the same name would share its status where labels are bare names.
    """
    return "_".join(dice.sample(WORDS, 3))


def camel_name(dice: random.Random) -> str:
    return "".join(word.capitalize() for word in dice.sample(WORDS, 3))
