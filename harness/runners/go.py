"""Go: tripwires are the first and the last test file of every package."""

import random
import re
import shlex
from collections.abc import Sequence

from assay.harness.domain import Siblings, Status
from assay.harness.languages.go import EVENTS, PACKAGES
from assay.harness.runners.appending import append_copies
from assay.harness.runners.base import (
    DEFINES_EXPECTED,
    PLACE,
    PLACEHOLDER,
    Adapted,
    DoubledFile,
    Tripwires,
    camel_name,
    read_placing,
    read_sources,
    snake_name,
)
from assay.harness.runners.choosing import read_choice
from assay.harness.runners.templates import draw, fill

NAME = "go"
PRINTS = frozenset({Status.PASSED, Status.FAILED})

OTHER_WORK = re.compile(r"-?-(c|n|o|list|exec|toolexec|overlay|modfile|args|fuzz|C)(=.*)?")
SELECTS = re.compile(r"-?-(skip|bench)(=.*)?")
RUN = re.compile(r"-?-(test\.)?run(=.*)?", re.DOTALL)
LEFT_OUT = re.compile(r"-?-(v|json|failfast|vet)(=.*)?")

SIGNATURE = r"^func (Test\w*)\((\w+) \*testing\.T\) \{"
TEST = "\n\nfunc Test$name(t *$testing.T) {\n\t%s\n}\n"
EXAMPLE = "\n\nfunc Example$name() {{\n\t// Output:{}\n}}\n"  # it prints nothing
TEXTS, BODIES = read_sources(NAME)
FIRST = (*((status, TEST % body) for status, body in BODIES["first"]), (Status.FAILED, EXAMPLE.format(" $wrong")))
LAST = (*((status, TEST % body) for status, body in BODIES["last"]), (Status.PASSED, EXAMPLE.format("")))
HELPERS = "testing total same"

PLACING = PACKAGES + DEFINES_EXPECTED + read_placing("go.sh")
"""Every package is a process; ``./...`` stands for those of its module."""


def tripwires(dice: random.Random) -> Tripwires:
    """Return a file of the package itself and one of its outer tests, which Go runs in this order."""
    files: dict[str, str] = {}
    expected: dict[str, Status] = {}
    for place, clause, bodies in (("aa", "tests", FIRST), ("zz", "tests_test", LAST)):
        wires = draw(dice, bodies, lambda dice: f"{camel_name(dice)}{PLACE}")
        text = fill(dice, f"package {clause}{TEXTS['head']}" + "".join(wire.source for wire in wires), HELPERS)
        files[f"{place}_{snake_name(dice)}_test.go"] = text
        expected |= {re.findall(r"func (\w+@\w+@)\(", wire.source)[0]: wire.status for wire in wires}
    names = sorted(name.replace(PLACE, "") for name in expected)
    return Tripwires(files=files, expected=expected, argument=f"^({'|'.join(names)})[0-9]+$")


def place_siblings(files: Sequence[DoubledFile]) -> Siblings:
    """Return files with copies of functions at their ends; a copy that went parallel would meet its original."""

    def stay(copy: str, found: re.Match[str]) -> str:
        return re.sub(rf"\b{found[2]}\.Parallel\(\)", "", copy)

    made = append_copies(files, SIGNATURE, "Test@camel:NUMBER@", stay)
    return made.model_copy(update={"argument": "".join(f"|^{word}$" for word in made.words)})


def adapt(words: Sequence[str]) -> Adapted | None:
    """Adapt ``go test``; where it selects tests by name, it selects the tripwires, too."""
    if words[1:2] != ["test"] or words[0].rpartition("/")[2] != "go" or any(map(OTHER_WORK.fullmatch, words)):
        return None
    arguments = [word for word in words[2:] if not LEFT_OUT.fullmatch(word)]
    pattern, rest = _selection(arguments)
    targets = read_choice(NAME, [("go", "test", *rest)]).chosen
    # A slash parts the names of subtests, in older versions of Go for all alternatives at once.
    runs_tripwires = "/" not in pattern and not any(map(SELECTS.fullmatch, rest))
    selected = ("-run", f"{pattern}|{PLACEHOLDER}" if runs_tripwires else pattern)
    command = f"set -o pipefail; {words[0]} test -json -vet=off -count=1 {shlex.join((*selected, *rest))}"
    return Adapted(f"{command} | {EVENTS}", "go_json", targets, runs_tripwires)


def _selection(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Return the pattern of the tests to run, which is that of all if there is none, and the other arguments."""
    pattern, rest, words = ".", list[str](), iter(arguments)
    for word in words:
        if RUN.fullmatch(word):
            pattern = word.partition("=")[2] if "=" in word else next(words, ".")
        else:
            rest.append(word)
    return pattern, rest
