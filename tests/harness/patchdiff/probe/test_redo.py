import os
import sys
import time
from typing import Any

from assay.harness.patchdiff.probe import calls, redo, trace

MATERIAL = redo.ChangeMaterial(1, (), (), {})
LEAVES = calls.find_leaves((("tea time", 3), {}))


def test_first_copy_is_unchanged_and_the_others_differ() -> None:
    first, *others = [*redo.choose_changes("f", LEAVES, 20, MATERIAL)]
    assert first == []
    assert len(others) == 20
    assert len({str(each) for each in others}) == 20
    assert all(1 <= len(each) <= 2 for each in others)


def test_changes_depend_on_the_name_and_the_seed() -> None:
    same, again = ([*redo.choose_changes("f", LEAVES, 20, MATERIAL)] for _ in range(2))
    assert same == again
    assert same != [*redo.choose_changes("g", LEAVES, 20, MATERIAL)]
    assert same != [*redo.choose_changes("f", LEAVES, 20, MATERIAL._replace(seed=2))]


def test_arguments_are_taken_from_other_calls_and_stand_in_for_what_was_not_given() -> None:
    leaves = calls.find_leaves((("http", None), {}))
    scheme, host = (str(leaf["path"]) for leaf in leaves)
    beside = MATERIAL._replace(beside={scheme: ["'http'", "'wss'"], host: ["None", "('a', 80,)"]})
    found = [each for copy in redo.choose_changes("f", leaves, 300, beside) for each in copy]
    news = {place: {each.new for each in found if str(each.path) == place} for place in (scheme, host)}
    assert "'wss'" in news[scheme]
    assert "('a', 80,)" not in news[scheme]
    assert {"('a', 80,)", "[('a', 80,)]", "['wss']"} <= news[host]


def test_call_without_plain_data_has_no_changed_copies() -> None:
    assert [*redo.choose_changes("f", [], 20, MATERIAL)] == [[]]


def test_call_reports_result_arguments_and_output() -> None:
    def act(items: list[int]) -> int:
        sys.stdout.write("loud")
        items.append(1)
        return len(items)

    seen = redo.call(trace.TargetWatch([]), act, (([],), {}))
    assert seen["return"] == ["value", "int", "1"]
    assert seen["arguments"][2] == "(([1]), {})"
    assert seen["stdout"][2] == "loud"


def test_call_reports_the_type_of_an_exception() -> None:
    assert redo.call(trace.TargetWatch([]), int, (("x",), {}))["return"] == ["error", "ValueError", ""]


def test_call_that_dies_or_hangs_in_a_child_loses_only_itself() -> None:
    def say() -> Any:
        return {"return": ["value", "int", "1"]}

    def hang() -> Any:
        time.sleep(60)

    found = list(redo.run_in_children([say, lambda: os._exit(1), say, hang, say], 1.0))
    assert [each["return"][0] for each in found] == ["value", "died", "value", "timeout", "value"]
