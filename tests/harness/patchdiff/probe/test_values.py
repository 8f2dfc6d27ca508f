import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.patchdiff.probe import texts, values

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(PLAIN)
def test_literal_of_plain_data_reads_back_as_the_same(value: Any) -> None:
    text = values.literal(value)
    assert texts.describe(values.read_literal(text)) == texts.describe(value)


@given(PLAIN, st.integers())
def test_replacement_of_a_value_is_never_that_value(value: Any, seed: int) -> None:
    for other in values.others(value, random.Random(seed)):
        assert repr(other) != repr(value)
        assert values.is_plain(other) or not values.literal(other)


def test_number_in_a_text_becomes_another_of_as_many_digits() -> None:
    found = {each for seed in range(200) for each in values.texts("6 Nov 1994", random.Random(seed))}
    years = {each[6:] for each in found if each.startswith("6 Nov ") and len(each) == 10 and each[6:].isdigit()}
    assert any(year > "2100" for year in years)
    assert "0 Nov 1994" in found


@pytest.mark.parametrize(
    ("value", "words", "wanted"),
    [
        ('a = """\nfoo"""', ['"""', "\n"], 'a = """\n\nfoo"""'),
        ("a = '''\nfoo'''", ["\n", "\r\n"], "a = '''\r\nfoo'''"),
        ("path = 'temp'", [r"'(\\.)*'"], r"path = '\temp'"),
    ],
    ids=["another beside one", "another in place of one", "a mark of a word"],
)
def test_word_of_the_change_is_put_beside_or_in_place_of_another(value: str, words: list[str], wanted: str) -> None:
    assert any(wanted in values.splice(value, [], words, random.Random(seed)) for seed in range(200))


def test_text_gets_other_line_ends_and_quotes() -> None:
    news = values.texts('a "b"\nc\n', random.Random(1))
    assert 'a "b"\r\nc\r\n' in news
    assert "a 'b'\nc\n" in news


def test_dictionary_key_is_renamed_and_keeps_its_value() -> None:
    news = [new for seed in range(50) for new in values.others({"a b": 1, 2: 3}, random.Random(seed))]
    renamed = [new for new in news if len(new) == 2 and "a b" not in new]
    assert {tuple(new.values()) for new in renamed} == {(1, 3)}
    assert any("\t" in key for new in renamed for key in new if isinstance(key, str))


def test_text_of_lines_loses_doubles_swaps_and_indents_one() -> None:
    found = {new for seed in range(20) for new in values.texts("a\nb\n", random.Random(seed))}
    assert {"b\n", "a\n", "a\na\nb\n", "b\na\n", "  a\nb\n"} <= found


def test_number_of_the_change_is_a_border_value_and_a_repeat_count() -> None:
    assert values.borders(5, ["40", "x", "123456789"]) == [40, 41, 39]
    assert values.borders(True, ["40"]) == values.borders("5", ["40"]) == []
    news = {new for seed in range(40) for new in values.splice("a&b", [], ["40"], random.Random(seed))}
    assert {"a" + "&" * 40 + "b", "a" + "&" * 41 + "b"} <= news


def test_mark_of_the_change_is_put_anywhere_into_text_or_bytes() -> None:
    news = {new for seed in range(40) for new in values.splice(b"ab", [], ["[$#]"], random.Random(seed))}
    assert {b"a#b", b"ab$", b"[ab"} <= news
