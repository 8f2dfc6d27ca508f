"""The contract of a workbench: an open engine, and the way to an instance's image and test plan."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from assay.harness.domain import Instance, TestPlan
from assay.harness.engines.base import Engine

Answer = TypeVar("Answer")


class Workbench(Protocol):
    """Gives evaluations, solvers and comparisons all that an instance's containers need."""

    @property
    def engine(self) -> Engine:
        """The engine that runs the containers; a cluster has none here."""

    @property
    def cluster(self) -> "Cluster | None":
        """The machines that make attempts in place of this one; None if this one makes them."""

    def describe(self) -> dict[str, str]:
        """Return facts about what runs the containers, for a run's manifest."""

    def hash_surroundings(self) -> str:
        """Return the hash of what ``settle`` and ``plan`` ask beside the instance, recipes and code; empty if unknown.

        Where it is equal they give the same for the same instance.
        """

    def reap(self) -> None:
        """Remove the containers of dead processes; raises EngineError."""

    def settle(self, instance: Instance) -> Instance:
        """Return the instance with its environment decided and, if its row has no date, dated by its commit."""

    def plan(self, instance: Instance) -> TestPlan:
        """Return how the instance's tests are run."""

    def plan_files(self, instance: Instance, files: Sequence[str]) -> TestPlan:
        """Return how some of the tree's test files are run, whatever the instance's own are."""

    def aim(self, plan: TestPlan, instance: Instance) -> TestPlan:
        """Return a plan with the test files that only labels name, maybe from the tree; raises EnvironmentFailure."""

    def assets(self, instance: Instance) -> Callable[[], Mapping[str, bytes]]:
        """Return a function that reads the binary files of the instance's tests, by path."""

    def image(self, instance: Instance, patch: str | None = None) -> AbstractContextManager[str]:
        """Give the name of the image in which a patch is tested, building it if need be; it stays until the block ends.

        Without a patch it is the instance's own, in which solvers work. With one, even an empty one, it also has the
        packages for which the test patch's manifests ask, and with one that changes manifests those of the gold patch.

        Raises:
            EnvironmentFailure: it cannot be built. EngineError: the engine failed.
        """

    def abort(self) -> None:
        """End every container and build that is under way."""


class Cluster(Protocol):
    """Other machines, each with a workbench of its own."""

    @property
    def slots(self) -> int:
        """Attempts that it can make at once."""

    @property
    def host(self) -> str:
        """Address of this machine, as the others reach it."""

    def attempt(self, do: Callable[[Workbench], Answer], /) -> Answer:
        """Call a copy of a function on some machine, on another if that is lost; raises AttemptLost, RunStopped."""

    def summary(self) -> str: ...


OpenCluster = Callable[[Callable[[], Workbench], str, Callable[[str], None], int], Workbench]
"""Opens an executor, which is a ``Workbench`` and a ``Cluster`` in one.

It is given a function that opens a node's workbench, an address, a function that takes a line for a person, and the
number of cards that each attempt has to itself.
"""
