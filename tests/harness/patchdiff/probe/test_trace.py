from assay.harness.patchdiff.probe import trace


def target() -> int:
    return 1


def caller() -> int:
    return target()


def lines_of(function: object) -> trace.TargetLines:
    code = function.__code__  # type: ignore[attr-defined]
    path = code.co_filename.rpartition("/")[2]
    return trace.TargetLines(path, "target", code.co_firstlineno, code.co_firstlineno + 1)


def test_target_that_ran_is_found() -> None:
    reach = trace.Reach([lines_of(target)])
    reach.begin()
    caller()
    reach.end()
    assert reach.found == "target"


def test_nothing_is_found_where_no_target_ran() -> None:
    reach = trace.Reach([lines_of(target)])
    reach.begin()
    len([])
    reach.end()
    assert reach.found == ""


def test_whole_file_is_reached_by_any_of_its_functions() -> None:
    whole = lines_of(target)._replace(name="", first=0, last=0)
    assert trace.target_of(caller.__code__, [whole]) == "<module>"
    assert trace.target_of(caller.__code__, [whole._replace(path="other.py")]) == ""
