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
)
from assay.harness.runners.templates import draw, fill

NAME = "googletest"
PRINTS = frozenset({Status.PASSED})

TEST = "\nTEST($suite, $name) { %s; }\n"
NOTICED = TEST % "$nonfatal(%s)"
ENDED = TEST % "$fatal(%s)"
BODIES = tuple(
    (Status.PASSED, source)
    for source in (
        TEST % "EXPECT_EQ($total($number), ${sum}u)",
        TEST % "ASSERT_EQ($total($number), ${sum}u)",
        NOTICED % "EXPECT_EQ($total($number), ${wrong}u)",
        NOTICED % "EXPECT_NE($total($number), ${sum}u)",
        NOTICED % "EXPECT_TRUE($total($number) == ${wrong}u)",
        NOTICED % "ADD_FAILURE() << $total($number)",
        ENDED % "ASSERT_EQ($total($number), ${wrong}u)",
        ENDED % "ASSERT_FALSE($total($number) == ${sum}u)",
        ENDED % "FAIL() << $total($number)",
    )
)
"""Status and source of each test: every usual way to fail is there."""
HELPERS = "total suite nonfatal fatal"
_HEAD = """

#if __has_include(<gtest/gtest-spi.h>)
#include <gtest/gtest-spi.h>
#define $nonfatal(statement) EXPECT_NONFATAL_FAILURE(statement, "")
#define $fatal(statement) EXPECT_FATAL_FAILURE(statement, "")
#else
#define $nonfatal(statement) SUCCEED()
#define $fatal(statement) SUCCEED()
#endif

static unsigned $total(unsigned number) {
    unsigned sum = 0;
    for (unsigned each = 0; each < number; each++) sum += each;
    return sum;
}
"""

PLACING = DEFINES_EXPECTED + read_placing("googletest.sh")
"""Only changed files: any other would be compiled for the tripwires alone."""


def tripwires(dice: random.Random) -> Tripwires:
    wires = draw(dice, BODIES, lambda dice: f"{camel_name(dice)}{PLACE}")
    text = fill(dice, _HEAD + "".join(wire.source for wire in wires), HELPERS)
    return Tripwires({"tests.cc": text}, {wire.name: wire.status for wire in wires})


adapt = not_known
place_siblings = no_siblings
