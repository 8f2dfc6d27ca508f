"""Test runners: one module for each, with its tripwires; ``RUNNERS`` lists them by name.

Another distribution registers its module as an entry point of the group ``assay.test_runners``.
"""

from collections.abc import Sequence
from dataclasses import replace

from assay.harness.plugins import Registry
from assay.harness.runners import (
    ava,
    cargo,
    django,
    go,
    googletest,
    gradle,
    jasmine,
    jest,
    karma,
    maven,
    minitest,
    mocha,
    node_test,
    phpunit,
    pytest,
    rspec,
    sympy,
    tape,
    test_unit,
    unittest,
    vitest,
)
from assay.harness.runners.base import Adapted, TestRunner, Tripwires
from assay.harness.runners.choosing import read_choice

__all__ = ["RUNNERS", "Adapted", "TestRunner", "Tripwires", "adapt", "adapt_commands", "find"]

_OWN: tuple[TestRunner, ...] = (
    ava, cargo, django, go, googletest, gradle, jasmine, jest, karma, maven, minitest, mocha, node_test, phpunit,
    pytest, rspec, sympy, tape, test_unit, unittest, vitest,
)  # fmt: skip
RUNNERS = Registry[TestRunner](
    "test runner", "assay.test_runners", {each.NAME: each for each in _OWN}, needs=TestRunner
)
find = RUNNERS.find


def adapt_commands(commands: Sequence[Sequence[str]]) -> tuple[str, Adapted] | None:
    """Find the runner of one command, or of several that differ only in the classes that Maven runs; see ``adapt``."""
    words = commands[0] if len(commands) == 1 else maven.join_commands(commands)
    return adapt(words) if words else None


def adapt(words: Sequence[str]) -> tuple[str, Adapted] | None:
    """Find the runner that a test command of somebody else starts, and adapt the command; None if no runner knows it.

    ``words`` are as a shell reads them, without quotes and without assignments in front.
    """
    for name, runner in RUNNERS.items():
        adapted = runner.adapt(list(words))
        if adapted is not None:
            return name, replace(adapted, sure=read_choice(name, [words]).sure)
    return None
