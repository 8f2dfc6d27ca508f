import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.domain import Status
from assay.harness.reports import json_tree
from assay.harness.reports.base import Result

P, F = Status.PASSED, Status.FAILED


def results(report: json_tree.Object) -> Iterator[Result]:
    for name in json_tree.get_texts(report, "ok"):
        yield name, P
    for name in json_tree.get_texts(report, "bad"):
        yield name, F


def read(text: str) -> dict[str, Status]:
    return json_tree.read_documents(text, "ok", results)


@pytest.mark.parametrize("between", ["\nlog\n", "", " ", "x", "{", "\n", '{"no": '])
@pytest.mark.parametrize("forged_first", [True, False])
def test_test_passes_if_all_reports_say_so(between: str, forged_first: bool) -> None:
    forged, real = '{"ok": ["a", "c", "x"], "bad": ["b"]}', '{"ok": ["b", "c"], "bad": ["a"]}'
    texts = (forged, real) if forged_first else (real, forged)
    assert read(f"log\n{between.join(texts)}\n") == {"a": F, "b": F, "c": P}
    assert read(real) == {"a": F, "b": P, "c": P}


def test_report_may_be_followed_by_text_on_its_line() -> None:
    assert read('{"ok": ["a"]}Coverage {for} {1}\n{\n') == {"a": P}


def test_report_must_start_on_a_new_line_and_have_the_key() -> None:
    assert read('log {"ok": ["a"]}') == {}
    assert read('{"other": 1}') == {}
    assert read('  {"ok": ["a"]}') == {"a": P}


def test_log_with_many_lines_like_objects_is_given_up() -> None:
    assert read("{\n" * 100 + '{"ok": ["a"]}') == {"a": P}
    assert read("{\n" * 300 + '{"ok": ["a"]}') == {}


def test_value_of_another_type_counts_as_absent() -> None:
    value = {"text": 1, "texts": ["a", 2], "objects": [{"a": 1}, "b"], "path": "file:///testbed/a.js"}
    assert json_tree.get_text(value, "text") == ""
    assert json_tree.get_texts(value, "texts") == ("a",)
    assert json_tree.get_texts(value, "text") == ()
    assert list(json_tree.objects(value, "objects")) == [{"a": 1}]
    assert list(json_tree.objects(value, "text")) == []
    assert json_tree.get_path(value, "path") == "a.js"


@given(st.text())
def test_lines_of_any_text_are_objects(text: str) -> None:
    assert all(isinstance(each, dict) for each in json_tree.lines(text))


def test_lines_that_are_no_objects_are_ignored() -> None:
    assert list(json_tree.lines('{"a": 1}\n[1]\nlog\n{"b"\n{"b": 2} rest\n')) == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize(
    "report",
    [
        '{"ok": [' + "[" * 40_000_000,
        '{"ok": [' + "[]," * 10_000_000 + "[]]}",
        '{"ok": ["a"], "x": {' + ",".join(f'"{n}":{{}}' for n in range(2_100_000)) + "}}",
        "\n" * 40_000_000,
    ],
    ids=["depth", "lists", "objects", "lines"],
)
def test_large_report_costs_little_memory(report: str) -> None:
    tracemalloc.start()
    try:
        assert read(report) == {}
        assert list(json_tree.lines(report)) == []
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 200 * 1024 * 1024
