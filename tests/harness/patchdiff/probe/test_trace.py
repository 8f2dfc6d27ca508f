from collections.abc import Callable
from typing import Any

import pytest

from assay.harness.patchdiff.probe import trace


def target() -> int:
    return 1


def caller() -> int:
    return target()


def lines_of(function: object) -> dict[str, Any]:
    code = function.__code__  # type: ignore[attr-defined]
    path, first = code.co_filename.rpartition("/")[2], code.co_firstlineno
    return {"path": path, "name": "target", "first": first, "last": first + 1}


@pytest.mark.parametrize(("run", "found"), [(caller, "target"), (list, "")])
def test_only_a_target_that_ran_is_found(run: Callable[[], object], found: str) -> None:
    reach = trace.TargetWatch([lines_of(target)])
    reach.begin()
    run()
    reach.end()
    assert reach.found == found


def test_whole_file_is_reached_by_any_of_its_functions() -> None:
    whole = {**lines_of(target), "name": "", "first": 0, "last": 0}
    assert trace.Targets([whole]).find(caller.__code__) == "<module>"
    assert trace.Targets([{**whole, "path": "other.py"}]).find(caller.__code__) == ""
