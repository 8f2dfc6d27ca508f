"""R2E-Gym's rule: the map of all results equals the expected one. Pure."""

import re
from collections.abc import Callable
from functools import partial

from assay.harness.domain import Instance, Outcome, Status
from assay.harness.reports.base import worst
from assay.harness.rulings.labels import Against, Tests, conclude, get_stages, judge_labels

PRINTED = frozenset({Status.PASSED, Status.FAILED, Status.ERROR})
"""Statuses that R2E's log parser knows; other tests are not in its map."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def count_against(instance: Instance, tests: Tests) -> Against:
    """Compare the maps, which name tests by class and function without the file, and have no skipped tests.

    Unfixed are tests that should pass and do not; broken are all other differences.
    """
    now = worst((_shorten(".".join(test.split("::")[1:]) or test), status) for test, status in tests.items())
    now = {test: status for test, status in now.items() if status in PRINTED}
    wanted = {_shorten(test): status for test, status in get_stages(instance).fix.items()}
    differing = [test for test in {**wanted, **now} if wanted.get(test) is not now.get(test)]
    unfixed = tuple(test for test in differing if wanted.get(test) is Status.PASSED)
    return unfixed, tuple(test for test in differing if wanted.get(test) is not Status.PASSED)


def make_label_test(instance: Instance) -> Callable[[str], bool]:  # noqa: ARG001 - ``Benchmark`` names it
    """Let each name count, so that the tests are left out that R2E's log parser overlooks: it knows no ``XPASS``."""
    return bool


def _shorten(name: str) -> str:
    return _COLOUR.sub("", name).split(" - ")[0]


def _conclude(instance: Instance, unfixed: tuple[str, ...], broken: tuple[str, ...]) -> tuple[Outcome, str]:
    if not get_stages(instance).fix:
        return conclude(instance, unfixed, broken)
    if not unfixed and not broken:
        return Outcome.RESOLVED, "all expected tests pass"
    return Outcome.UNRESOLVED, f"{len(unfixed) + len(broken)} results are not those that are expected"


judge = partial(judge_labels, rule=count_against, conclude=_conclude)
