"""Test runners: one module for each, with its tripwires; ``RUNNERS`` lists them by name.

Another distribution registers its module as an entry point of the group ``assay.test_runners``.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import cast

from assay.harness.plugins import check_members, find_registered
from assay.harness.runners import maven
from assay.harness.runners.base import Adapted, TestRunner, Tripwires

__all__ = ["RUNNERS", "Adapted", "TestRunner", "Tripwires", "adapt", "adapt_commands", "find"]

_MODULES = """
cargo django go googletest gradle jasmine jest karma maven minitest mocha node_test phpunit pytest
rspec sympy tape unittest vitest
"""

RUNNERS: dict[str, TestRunner] = {
    name: cast("TestRunner", import_module(f"{__name__}.{name}")) for name in _MODULES.split()
}
"""Every runner by its name, which is that of its module."""


def find(name: str) -> TestRunner:
    """Return the runner of that name.

    Raises:
        PluginError: there is none; the message names those that there are.
    """
    if name not in RUNNERS:
        found = find_registered("test_runner", name, RUNNERS)
        check_members("test runner", TestRunner, found)
        RUNNERS[name] = found
    return RUNNERS[name]


def adapt_commands(commands: Sequence[Sequence[str]]) -> tuple[str, Adapted] | None:
    """Find the runner of one command, or of several that differ only in the classes that Maven runs; see ``adapt``."""
    words = commands[0] if len(commands) == 1 else maven.joined(commands)
    return adapt(words) if words else None


def adapt(words: Sequence[str]) -> tuple[str, Adapted] | None:
    """Find the runner that a test command of somebody else starts.

    Args:
        words: of the command as a shell reads them, without quotes and without assignments in front.

    Returns:
        The runner's name and the command adapted to it; None if no runner knows the command.
    """
    for name, runner in RUNNERS.items():
        adapted = runner.adapt(list(words))
        if adapted is not None:
            return name, adapted
    return None
