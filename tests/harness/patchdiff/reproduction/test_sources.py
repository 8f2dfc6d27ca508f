import ast

import pytest

from assay.harness.patchdiff.reproduction.sources import Source, TextChange, apply_changes, drop_others, find_function

FILE = '''\
"""What the whole file is about."""
import pytest


@pytest.fixture
def rate():
    return 3


@pytest.mark.slow
def test_plain(rate):
    """Wanted."""
    # as it was
    assert rate


class TestFirst:
    def test_one(self):
        assert 1

    def test_two(self):
        assert 2
'''


def left(text: str, *names: str) -> str:
    source = Source.read(text)
    test = find_function(source.tree, names)
    assert test is not None
    return apply_changes(text, drop_others(source, test))


PLAIN = ["@pytest.mark.slow\ndef test_plain(rate):", "# as it was", "def rate():", "class TestFirst:"]


@pytest.mark.parametrize(
    ("names", "stays", "goes"),
    [
        (["test_plain"], PLAIN, ["test_one", "about"]),
        (["TestFirst", "test_two"], ["test_two"], ["test_one", "test_plain", "slow"]),
    ],
)
def test_one_test_is_left_with_its_decorators_comments_fixtures_and_class(
    names: list[str], stays: list[str], goes: list[str]
) -> None:
    kept = left(FILE, *names)
    assert [text for text in [*stays, *goes] if text in kept] == stays
    ast.parse(kept)


@pytest.mark.parametrize("text", ["a = 1; b = 2\n\n\ndef test_a():\n    assert b", "def test_a(): assert 1"])
def test_file_with_one_test_is_left_as_it_is(text: str) -> None:
    assert left(text, "test_a") == text


def test_spans_count_in_characters() -> None:
    source = Source.read("NAME = 'é'; VALUE = 1\n\n\ndef test_a():\n    assert NAME == 'ü' and VALUE\n")
    (node,) = [each for each in ast.walk(source.tree) if isinstance(each, ast.BoolOp)]
    assert source.segment(node) == "NAME == 'ü' and VALUE"
    assert source.segment(node.values[1]) == "VALUE"


def test_overlapping_changes_make_the_first() -> None:
    assert apply_changes("abcdef", [TextChange(3, 5, "Y"), TextChange(1, 4, "X")]) == "aXef"
