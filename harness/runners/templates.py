"""Tripwires from templates, for languages whose code has no ``$name``.

``$name`` is the test's, ``$number`` any number, ``$sum`` that of all smaller ones, ``$wrong`` another sum.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import Template

from assay.harness.domain import Status
from assay.harness.runners.base import PLACE, WORDS, Body, draw_numbers


@dataclass(frozen=True, slots=True)
class Wire:
    name: str
    status: Status
    source: str


def draw(dice: random.Random, bodies: Sequence[Body], name: Callable[[random.Random], str]) -> list[Wire]:
    """Return a test for each body, in any order, under names that ``name`` makes."""
    wires = []
    for status, source in dice.sample(bodies, len(bodies)):
        drawn = name(dice)
        wires.append(Wire(drawn, status, Template(source).safe_substitute(draw_numbers(dice), name=drawn)))
    return wires


def fill(dice: random.Random, text: str, helpers: str) -> str:
    """Give each of the ``helpers`` of a source, which are named ``$helper`` in it, a name that no other source has."""
    words = dice.sample(WORDS, len(helpers.split()))
    names = {
        helper: f"{word}{dice.randrange(10_000)}x{PLACE}" for helper, word in zip(helpers.split(), words, strict=True)
    }
    return Template(text).safe_substitute(names)
