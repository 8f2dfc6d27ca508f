"""Other spellings of literals, which mean the same."""

import random
from ast import literal_eval

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness import languages
from assay.harness.counters.respelling import respell_literal
from assay.harness.languages.base import Asserting


def know(language: str) -> Asserting:
    asserting = languages.find(language).SYNTAX.asserting
    assert asserting is not None
    return asserting


@given(st.integers(0) | st.text(max_size=9), st.randoms())
def test_value_stays(value: int | str, dice: random.Random) -> None:
    source = repr(value)
    respelled = respell_literal(source, know("python"), dice)
    assert respelled != source
    assert not respelled or literal_eval(respelled) == value


@pytest.mark.parametrize(
    ("language", "source", "respelled"),
    [
        ("python", "'b'", r"'\x62'"),
        ("python", 'f"b"', ""),
        ("javascript", "'b'", r"'\x62'"),
        ("typescript", "`b`", ""),
        ("go", '"b"', r'"\x62"'),
        ("rust", '"b"', r'"\x62"'),
        ("rust", "30", "0x1e"),
        ("c", '"b1"', r'"\1421"'),
        ("cpp", "0", "0x0"),
        ("java", '"b"', r'"\142"'),
        ("java", "3L", ""),
        ("kotlin", '"b"', r'"\u0062"'),
        ("kotlin", '"$b"', ""),
        ("php", '"b"', r'"\x62"'),
        ("php", "'b'", ""),
        ("ruby", '"b"', r'"\x62"'),
        ("ruby", '"#{b}"', ""),
    ],
)
def test_spelling_of_a_language(language: str, source: str, respelled: str) -> None:
    assert respell_literal(source, know(language), random.Random(1)) == respelled
