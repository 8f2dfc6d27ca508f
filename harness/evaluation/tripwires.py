"""Tripwires: Assay's own tests beside the real ones, which show whether the test runner still reports the truth. Pure.

Some must pass and some must fail, as functions and as methods of ``unittest.TestCase``, in the same process and the
same invocation as the graded tests. A patch that turns every failure into a pass trips them. They prove nothing: code
in the same process can pick its targets and spare the rest, and an object that equals everything trips none.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from assay.harness.domain import Status

PLACEHOLDER = "{canary}"
"""Stands for the tripwires' file in a test command."""

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
WORDS = _WORDS.split()
"""Names are made of these, so that a tripwire looks like an ordinary test."""

FUNCTIONS = (
    (Status.PASSED, "assert sum(range({number})) == {sum}"),
    (Status.FAILED, "assert sum(range({number})) == {wrong}"),
    (Status.FAILED, "assert {kind}({number}) == {kind}({other})"),
    (Status.FAILED, "raise ValueError({number})"),
    (Status.FAILED, "with pytest.raises(KeyError):\n{indent}        len(str({number}))"),
)
METHODS = (
    (Status.PASSED, "self.assertEqual(sum(range({number})), {sum})"),
    (Status.FAILED, "self.assertEqual(sum(range({number})), {wrong})"),
    (Status.FAILED, "self.assertTrue({kind}({number}) == {kind}({other}))"),
    (Status.FAILED, "with self.assertRaises(KeyError):\n{indent}        len(str({number}))"),
)
"""Status that each test must have, and its body: every usual way to fail is there once."""


@dataclass(frozen=True, slots=True)
class Canary:
    """A test file, and the statuses that its tests must have."""

    path: str
    """Relative to the tree."""
    text: str
    expected: dict[str, Status]
    """By the node id within the file: ``test_x``, ``TestY::test_z``."""

    def by_id(self, test_id: str) -> dict[str, Status]:
        """Return the expected statuses by the ids that a plan's reports use (``node`` or ``function``)."""
        if test_id == "function":
            return {name.rpartition("::")[2]: status for name, status in self.expected.items()}
        return {f"{self.path}::{name}": status for name, status in self.expected.items()}


def make_canary(nonce: str) -> Canary:
    """Return tripwires whose names, order and values follow from a nonce, so that no patch can know them beforehand."""
    dice = random.Random(nonce)
    kind, case = (word.capitalize() for word in dice.sample(WORDS, 2))
    functions = _tests(dice, FUNCTIONS, kind, indent="", argument="")
    methods = _tests(dice, METHODS, kind, indent="    ", argument="self")
    text = _HEAD.format(kind=kind) + "".join(body for _, _, body in functions)
    text += f"\n\nclass Test{case}(unittest.TestCase):" + "".join(body for _, _, body in methods)
    expected = {name: status for name, status, _ in functions}
    expected |= {f"Test{case}::{name}": status for name, status, _ in methods}
    return Canary(path=f"{_name(dice)}.py", text=text, expected=expected)


def _name(dice: random.Random) -> str:
    # Three words: a real test of the same name would share its status where labels are bare function names.
    return f"test_{'_'.join(dice.sample(WORDS, 3))}"


def _tests(
    dice: random.Random,
    bodies: Sequence[tuple[Status, str]],
    kind: str,
    *,
    indent: str,
    argument: str,
) -> list[tuple[str, Status, str]]:
    """Return (name, status, source) of each body's test, in any order."""
    tests = []
    for status, body in dice.sample(bodies, len(bodies)):
        name = _name(dice)
        number, other = dice.sample(range(10, 1000), 2)
        total = sum(range(number))
        filled = body.format(number=number, other=other, sum=total, wrong=total + other, kind=kind, indent=indent)
        source = f"\n\n{indent}def {name}({argument}):\n{indent}    {filled}\n"
        tests.append((name, status, source))
    return tests


_HEAD = """\
import unittest

import pytest


class {kind}(object):
    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return self.number == other.number
"""
