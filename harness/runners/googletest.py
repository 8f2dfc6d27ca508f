"""GoogleTest under ctest: tripwires are at the end of the test files that are compiled anyway.

A program is one test for ctest, so no tripwire may fail: each looks whether a failure inside it is noticed. They show
that a program has run to its end, and what its assertions are worth. Whether failures reach the report is shown by
what the programs print.
"""

import random

from assay.harness.domain import Status
from assay.harness.runners.base import (
    DEFINES_EXPECTED,
    PLACE,
    Tripwires,
    camel_name,
    no_siblings,
    not_known,
    read_placing,
    read_sources,
)
from assay.harness.runners.templates import draw, fill

NAME = "googletest"
PRINTS = frozenset({Status.PASSED})

TEST = "\nTEST($suite, $name) { %s; }\n"
TEXTS, GROUPS = read_sources(NAME)
TEMPLATES = {"tests": TEST, "noticed": TEST % "$nonfatal(%s)", "ended": TEST % "$fatal(%s)"}
BODIES = [(status, TEMPLATES[group] % body) for group, bodies in GROUPS.items() for status, body in bodies]
HELPERS = "total suite nonfatal fatal"

PLACING = DEFINES_EXPECTED + read_placing("googletest.sh")
"""Only changed files: any other would be compiled for the tripwires alone."""


def tripwires(dice: random.Random) -> Tripwires:
    wires = draw(dice, BODIES, lambda dice: f"{camel_name(dice)}{PLACE}")
    text = fill(dice, TEXTS["head"] + "".join(wire.source for wire in wires), HELPERS)
    return Tripwires({"tests.cc": text}, {wire.name: wire.status for wire in wires})


adapt = not_known
place_siblings = no_siblings
