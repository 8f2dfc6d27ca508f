"""Tripwires in Ruby: their sources, and where they are put. RSpec and minitest run all files in one process."""

import random
from collections.abc import Iterator, Sequence

from assay.harness.domain import Status
from assay.harness.runners.base import HAS_EXPECTED, draw_numbers, read_placing

PLACING = HAS_EXPECTED + read_placing("ruby.sh")
"""Appends to the files with expected tests, unless only some of their tests run, and makes a file of its own."""


def fill(dice: random.Random, bodies: Sequence[tuple[Status, str]]) -> Iterator[tuple[Status, str]]:
    """Yield the status and the source of every body, in any order, with numbers of its own."""
    for status, body in dice.sample(bodies, len(bodies)):
        yield status, body.format(**draw_numbers(dice))
