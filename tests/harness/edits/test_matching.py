import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.harness.edits.matching import LIKE, ratio, reindent


def distance(first: str, second: str) -> int:
    """The definition, letter by letter."""
    if not first or not second:
        return len(first) + len(second)
    change = distance(first[1:], second[1:]) + (first[0] != second[0])
    return min(change, distance(first[1:], second) + 1, distance(first, second[1:]) + 1)


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [
        ("abcdefghij", "abcdefghij", 1.0),
        ("abcdefghij", "abcdefghiX", 0.9),  # one substitution of ten
        ("abcdefghij", "abcdefghi", 0.9),  # one deletion; the longer one has ten letters
        ("abcdefghij", "abcdefgXYj", 0.8),  # two of ten: just alike
        ("abcdefghij", "abcdefXYZj", 0.0),  # three of ten: 0.7 is below the limit
        ("ab", "ba", 0.0),  # two substitutions of two
        ("", "", 1.0),
    ],
)
def test_ratio_of_known_pairs(first: str, second: str, value: float) -> None:
    assert ratio(first, second) == pytest.approx(value)
    assert ratio(second, first) == pytest.approx(value)


WORDS = st.text("ab", max_size=6)


@settings(deadline=None)
@given(WORDS, WORDS)
def test_ratio_is_levenshtein_s_or_zero(first: str, second: str) -> None:
    """Both with a common beginning of six letters, so that some pairs are alike."""
    longest = 6 + max(len(first), len(second))
    expected = 1 - distance(first, second) / longest
    assert ratio("xyzxyz" + first, "xyzxyz" + second) == pytest.approx(expected if expected > LIKE - 1e-9 else 0)


@given(st.lists(st.sampled_from(["", "  ", "    "]).flatmap(lambda indent: st.just(indent + "x")), min_size=1))
def test_reindented_keeps_lines_that_matched_exactly(lines: list[str]) -> None:
    assert reindent(lines, [(line, line) for line in lines]) == lines
