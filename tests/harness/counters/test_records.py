"""What a recorder writes of a value, and what can be known from it."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.counters.records import Recorded, agree, judge_passes, read_records
from assay.harness.languages.recorders.python import assay_reduce
from tables import read_tables

TABLES = read_tables(__file__)

SIMPLE = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.sampled_from(["", "a", "1", b"a", 0.5])
SIMPLE |= st.integers() | st.floats(allow_nan=False) | st.text(max_size=2) | st.binary(max_size=2)
HASHED = st.recursive(SIMPLE, lambda inner: st.tuples(inner) | st.frozensets(inner, max_size=2), max_leaves=3)
VALUES = st.recursive(
    HASHED,
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(HASHED, inner, max_size=3),
    max_leaves=6,
)
SHARED = st.sampled_from(
    [1, 1.0, True, "1", b"1", (1,), [1], {1}, frozenset([1.0]), {1: "a"}, {True: "a"}, None, 0, -0.0]
)


def record(value: Any, number: int = 0) -> Recorded:
    own = list[object]()
    line = json.dumps([number, assay_reduce(value, own, 0), bool(own), assay_reduce(value, own, 0), bool(own)])
    return read_records(line.encode())[number][0]


@given(VALUES | SHARED, VALUES | SHARED)
def test_values_agree_if_and_only_if_they_are_equal(one: Any, other: Any) -> None:
    assert agree(record(one), record(other).expected, alike=False) is (one == other)


@given(VALUES)
def test_value_agrees_with_itself(value: Any) -> None:
    assert agree(record(value), record(value).expected, alike=True) is True


class Odd(int):
    """A number that equals its neighbours."""

    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int) and abs(int(self) - int(other)) < 2


class Plain(dict[str, int]):
    """A dictionary whose methods lie."""

    def items(self) -> Any:
        return {"a": 2}.items()

    def __iter__(self) -> Any:
        return iter("b")


@pytest.mark.parametrize(
    ("actual", "expected", "alike", "agrees"),
    [
        (Odd(3), 3, False, True),
        (Odd(3), 4, False, None),
        ([Odd(3)], [5], False, None),
        (Plain(a=1), {"a": 1}, False, True),
        (Plain(a=1), {"a": 2}, False, False),
        ((1, 2), [1, 2], False, False),
        ((1, 2), [1, 2], True, True),
        ((1, 2), [1, 3], True, False),
        ((1, 2), [1, 2, 3], True, None),
        (math.nan, 1, False, False),
    ],
)
def test_what_an_equality_of_its_own_allows_is_not_known(
    actual: object, expected: object, alike: bool, agrees: bool | None
) -> None:
    assert agree(record(actual), record(expected).expected, alike=alike) is agrees


def test_arrays_of_numpy_are_lists_and_their_shapes_matter() -> None:
    numpy = pytest.importorskip("numpy")
    two = record(numpy.array([1, 2]))
    answers = {"[1, 2]": True, "[1, 3]": False, "1": None, "[[1, 2]]": None}
    assert {text: agree(two, record(eval(text)).expected, alike=True) for text in answers} == answers
    assert agree(record(numpy.float64(0.5)), record(0.5).expected, alike=False) is True
    assert agree(record(numpy.float32(0.1)), record(0.1).expected, alike=False) is None


@pytest.mark.parametrize("value", [object(), 1j, range(3), [object()], type])
def test_other_types_have_no_canonical_form(value: object) -> None:
    with pytest.raises(TypeError):
        assay_reduce(value, [], 0)


@pytest.mark.parametrize(("passes", "answers", "certain", "agrees"), TABLES["passes_through_an_assertion"])
def test_passes_through_an_assertion(passes: list[int], answers: list[int], certain: bool, agrees: bool | None) -> None:
    expected = [record(each).expected for each in answers]
    assert judge_passes([record(each) for each in passes], expected, alike=False, certain=certain) is agrees


def test_lines_that_are_no_records_are_left_out() -> None:
    assert read_records(b'\n{}\n[1]\n["x", 1, 2, 3, 4]\nnull\n[0, ["int"], 0, null, 1]\n\xff\n') == {}
