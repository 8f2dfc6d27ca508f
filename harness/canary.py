"""Tripwires: tests of ours beside the real ones, which show whether the test runner still tells the truth. Pure.

One must pass and two must fail, in the same process and the same invocation as the graded tests. A patch that turns
every failure into a pass trips them. They are a tripwire and no proof: code that runs in the same process can know
them and spare them, and they say nothing about an object that equals everything.
"""

import random
from dataclasses import dataclass

from assay.harness.domain import Status

PLACEHOLDER = "{canary}"
"""Where a test command takes the file of the tripwires."""

WORDS = ("helpers", "values", "basic", "state", "config", "paths", "models", "utils", "parsing", "results")


@dataclass(frozen=True, slots=True)
class Canary:
    """A test file and what must come of its tests, by function name."""

    path: str
    """Relative to the tree."""
    text: str
    expected: dict[str, Status]

    def by_id(self, test_id: str) -> dict[str, Status]:
        """Return the expected statuses by the ids that a plan's reports use (``node`` or ``function``)."""
        if test_id == "function":
            return self.expected
        return {f"{self.path}::{name}": status for name, status in self.expected.items()}


def make_canary(nonce: str) -> Canary:
    """Return tripwires whose names, order and values follow from a nonce, so that no patch can know them beforehand."""
    dice = random.Random(nonce)
    number, other = dice.sample(range(10, 1000), 2)
    names = [f"test_{word}_{dice.randrange(16**4):04x}" for word in dice.sample(WORDS, 3)]
    kind = f"Value{dice.randrange(1000)}"
    bodies = [
        (Status.PASSED, f"    assert sum(range({number})) == {sum(range(number))}\n"),
        (Status.FAILED, f"    assert sum(range({number})) == {sum(range(number)) + other}\n"),
        (Status.FAILED, f"    assert {kind}({number}) == {kind}({other})\n"),
    ]
    dice.shuffle(bodies)
    tests = "".join(f"\n\ndef {name}():\n{body}" for name, (_, body) in zip(names, bodies, strict=True))
    return Canary(
        path=f"test_{dice.choice(WORDS)}_{dice.randrange(16**8):08x}.py",
        text=_VALUE.format(kind=kind) + tests,
        expected={name: status for name, (status, _) in zip(names, bodies, strict=True)},
    )


_VALUE = """\
class {kind}(object):
    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return self.number == other.number
"""
