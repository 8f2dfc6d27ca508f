"""Where work runs: executors by name, each a function ``(work, items, jobs) -> iterator of results``.

Results come as they are ready, in any order. An executor never catches what ``work`` raises, and when its consumer
stops early (Ctrl-C) it starts nothing more.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from assay.harness.plugins import resolve

Item = TypeVar("Item")
Result = TypeVar("Result")

EXECUTORS = {
    "inline": "assay.harness.runs.executors.inline:run",
    "threads": "assay.harness.runs.executors.threads:run",
}


class Executor(Protocol):
    """Runs ``work`` over ``items``, at most ``jobs`` at once."""

    def __call__(self, work: Callable[[Any], Any], items: Sequence[Any], jobs: int) -> Iterator[Any]:
        """Yield each item's result when it is ready."""
        ...


def find_executor(name: str) -> Executor:
    """Return an executor by short name or ``module:attribute``; raises PluginError."""
    executor: Executor = resolve("executor", name, EXECUTORS)
    return executor
