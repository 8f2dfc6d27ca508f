"""What of a test file stays when one of its tests is wanted."""

import ast

import pytest

from assay.harness.patchdiff.reproduction.excerpt import Change, Source, changed, excerpt

FILE = '''\
"""What the whole file is about."""

from __future__ import annotations

import os
import unittest
from shop import (
    label,
    price as cost,
)

pytestmark = []
RATE = 3  # for all
BASE = RATE + 1
OTHER = os.sep


def setup_module():
    pass


def rate():
    return BASE


def test_plain():
    """Wanted."""
    # as it was
    assert cost(rate(), 2) == 8


def test_other():
    assert label("a", 1)


class TestCase(unittest.TestCase):
    """In a class."""

    each = RATE

    def helper(self):
        return rate()

    def test_one(self):
        assert self.helper() == 4

    def test_two(self):
        assert self.helper() == 5
'''


def test_a_test_keeps_what_it_needs_and_loses_the_rest() -> None:
    source = Source.read(FILE)
    assert excerpt(source, ("test_plain",), []) == (
        "from __future__ import annotations\n\nfrom shop import price as cost\n\n"
        "pytestmark = []\nRATE = 3\nBASE = RATE + 1\n\n\n"
        "def setup_module():\n    pass\n\n\n"
        "def rate():\n    return BASE\n\n\n"
        'def test_plain():\n    """Wanted."""\n    # as it was\n    assert cost(rate(), 2) == 8'
    ).replace("RATE = 3\n", "RATE = 3  # for all\n")


def test_a_test_in_a_class_keeps_its_class_without_the_other_tests() -> None:
    kept = excerpt(Source.read(FILE), ("TestCase", "test_one"), [])
    (held,) = [node for node in ast.parse(kept).body if isinstance(node, ast.ClassDef)]
    assert [node.name for node in held.body if isinstance(node, ast.FunctionDef)] == ["helper", "test_one"]
    assert "import unittest" in kept
    assert "each = RATE" in kept
    assert "test_plain" not in kept
    assert "import os" not in kept


def test_everything_loses_only_other_tests() -> None:
    kept = excerpt(Source.read(FILE), ("test_plain",), [], everything=True)
    assert "OTHER = os.sep" in kept
    assert "label" in kept
    assert "test_other" not in kept
    assert "test_one" not in kept


def test_changes_are_made_in_what_stays_and_count_in_characters() -> None:
    text = "NAME = 'é'; VALUE = 1\n\n\ndef test_a():\n    assert NAME == 'ü' and VALUE\n"
    source = Source.read(text)
    (node,) = [each for each in ast.walk(source.tree) if isinstance(each, ast.BoolOp)]
    assert source.segment(node) == "NAME == 'ü' and VALUE"
    kept = excerpt(source, ("test_a",), [Change(*source.span(node.values[1]), "not VALUE")])
    assert kept.endswith("assert NAME == 'ü' and not VALUE")
    assert kept.startswith("NAME = 'é'; VALUE = 1\n")


@pytest.mark.parametrize("text", ["a = 1; b = 2\n\n\ndef test_a():\n    assert b", "def test_a(): assert 1"])
def test_lines_that_hold_several_statements_come_once(text: str) -> None:
    assert excerpt(Source.read(text), ("test_a",), []) == text


def test_of_changes_that_overlap_the_first_counts() -> None:
    assert changed("abcdef", [Change(3, 5, "Y"), Change(1, 4, "X")]) == "aXef"
