"""What a test command chooses to run, in the words of its runner: tripwires have to be where tests surely run."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.harness.runners.base import PLACEHOLDER, read_placing
from assay.harness.runners.commands import arguments


@dataclass(frozen=True, slots=True)
class Choice:
    chosen: tuple[str, ...] = ()
    """Options and words that ``TestRunner.PLACING`` follows."""
    runs_tripwires: bool = True
    sure: bool = True
    """Whether it is known which places run."""


@dataclass(frozen=True, slots=True)
class Options:
    """How commands of one runner choose: options in one text, and patterns of words."""

    program: str
    """Patterns of the words that start it."""
    tests: str = ""
    """Leave out single tests or end a run early, and leave out tripwires with them."""
    places: str = ""
    """Leave out files, programs or projects in a way that ``TestRunner.PLACING`` cannot follow."""
    follows: str = ""
    values: str = ""
    """Others that have a value. An option that ends in ``=`` may have its value in the next word."""
    filters: str = r"(?!)"
    """Pattern of words that choose single tests."""
    words: str = r"(?!)"
    """Pattern of words that ``PLACING`` follows."""
    default: str = ""
    """What runs without a word."""

    @property
    def value_options(self) -> frozenset[str]:
        known = f"{self.tests} {self.places} {self.follows} {self.values}".split()
        return frozenset(option[:-1] for option in known if option.endswith("="))

    def choose(self, command: Sequence[str]) -> Choice | None:
        """Read a command; None if it does not start the runner."""
        programs = [rf"(\S*/)?({each})" for each in self.program.split(" ")]
        size = len(programs)
        ends = (at for at in range(size, len(command) + 1) if all(map(re.fullmatch, programs, command[at - size : at])))
        end = next(ends, None)
        if end is None:
            return None
        given = list(arguments(command[end:], self.value_options))
        plain = [each[0] for each in given if not each[0].startswith("-")]
        left_out = [*_find(given, self.tests), *((word,) for word in plain if re.fullmatch(self.filters, word))]
        followed = [re.sub(r"^(-p)([^=]+)$", r"\1=\2", "=".join(each)) for each in _find(given, self.follows)]
        return Choice(
            (*followed, *(word for word in plain or self.default.split() if re.fullmatch(self.words, word))),
            runs_tripwires=not left_out or any(PLACEHOLDER in each[-1] for each in left_out),
            sure=not _find(given, self.places),
        )


def _find(given: Iterable[tuple[str, ...]], options: str) -> list[tuple[str, ...]]:
    """Return those of some options that a command has, with a value in the same word or without; 0 chooses nothing."""
    known = {option.removesuffix("=") for option in options.split()}
    short = {option for option in known if re.fullmatch("-[EPegkmnptx]", option)}
    found = (each for each in given if each[0].partition("=")[0] in known or each[0][:2] in short)
    return [each for each in found if not "=".join(each).endswith("=0")]


BESIDE = frozenset({"ava", "cargo", "go", "googletest", "gradle", "jest", "maven", "node_test", "vitest"})
"""Runners whose tripwires need no name in the command: they are among the tests."""


def _read_table() -> Mapping[str, Options]:
    found = dict[str, dict[str, str]]()
    lines = (line for line in read_placing("options.tsv").splitlines() if not line.startswith("#"))
    for runner, kind, text in (line.split("\t") for line in lines):
        row = found.setdefault(runner, {"program": runner})
        row[kind] = text if kind == "program" else f"{row.get(kind, '')} {text}".strip()
    return {runner: Options(**row) for runner, row in found.items()}


OPTIONS = _read_table()
"""Runners by name; one that is not here is taken to run all tripwires."""
_PACKAGES = frozenset({"--package", "--exclude", "--workspace", "--all"})
KINDS = frozenset(re.findall(r"--[a-z-]+", OPTIONS["cargo"].follows)) - _PACKAGES
"""Options of cargo that choose kinds of programs."""


def read_choice(runner: str, commands: Iterable[Sequence[str]], *, names_tripwires: bool = True) -> Choice:
    """Read what some commands run; all if none of them starts the runner. Of two, nobody knows which runs a place."""
    options = OPTIONS.get(runner, Options(r"(?!)"))
    found = [choice for each in commands if (choice := options.choose(each))]
    return Choice(
        found[0].chosen if len(found) == 1 else (),
        runs_tripwires=all(each.runs_tripwires for each in found),
        sure=len(found) < 2 and (names_tripwires or runner in BESIDE) and all(each.sure for each in found),
    )
