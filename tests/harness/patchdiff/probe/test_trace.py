from typing import Any

from assay.harness.patchdiff.probe import trace


def target() -> int:
    return 1


def caller() -> int:
    return target()


def lines_of(function: object) -> dict[str, Any]:
    code = function.__code__  # type: ignore[attr-defined]
    path, first = code.co_filename.rpartition("/")[2], code.co_firstlineno
    return {"path": path, "name": "target", "first": first, "last": first + 1}


def test_target_that_ran_is_found() -> None:
    reach = trace.TargetWatch([lines_of(target)])
    reach.begin()
    caller()
    reach.end()
    assert reach.found == "target"


def test_nothing_is_found_where_no_target_ran() -> None:
    reach = trace.TargetWatch([lines_of(target)])
    reach.begin()
    len([])
    reach.end()
    assert reach.found == ""


def test_whole_file_is_reached_by_any_of_its_functions() -> None:
    whole = {**lines_of(target), "name": "", "first": 0, "last": 0}
    assert trace.Targets([whole]).find(caller.__code__) == "<module>"
    assert trace.Targets([{**whole, "path": "other.py"}]).find(caller.__code__) == ""
