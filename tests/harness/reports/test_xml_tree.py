import time
import tracemalloc
import xml.etree.ElementTree as ET

import pytest

from assay.harness.reports import xml_tree
from assay.harness.reports.junit_xml import parse_bytes
from assay.harness.reports.xml_tree import read_tree

pytestmark = pytest.mark.slow

CASES = '<testsuite><testcase name="a" time="1">out<system-out><testcase name="b"/></system-out></testcase></testsuite>'


def tree_of(document: str | bytes, *kept: set[str]) -> ET.Element:
    root = read_tree(document, *kept)
    assert root is not None
    return root


def test_whole_tree_is_that_of_the_standard_library_without_text() -> None:
    expected = ET.fromstring(CASES)
    for element in expected.iter():
        element.text = element.tail = None
    assert ET.tostring(tree_of(CASES)) == ET.tostring(expected)


def test_only_named_elements_and_attributes_are_kept() -> None:
    assert ET.tostring(tree_of(CASES, {"testcase"}, {"name"})) == b'<testsuite><testcase name="a" /></testsuite>'


@pytest.mark.parametrize(
    "text", ["", "x", "<a>", "<a></b>", "<a/><b/>", "<a>&unknown;</a>", "<a x='1' x='2'/>", "<a>\x01</a>"]
)
def test_anything_else_has_no_tree(text: str) -> None:
    assert read_tree(text) is None
    assert read_tree(text.encode()) is None


@pytest.mark.parametrize("lead", ["", "\ufeff", "<?xml version='1.0' encoding='latin-1'?>"])
def test_bytes_are_utf8_with_wrong_ones_replaced(lead: str) -> None:
    assert tree_of(lead.encode() + b'<a n="\xc3\xa4 \xff"/>').get("n") == "\xe4 \ufffd"


def test_character_on_the_edge_of_a_piece_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_tree, "_SLICE", 3)
    assert tree_of('<a n="\xe4\xf6\U0001f600"/>'.encode()).get("n") == "\xe4\xf6\U0001f600"


def test_long_value_is_cut() -> None:
    assert len(tree_of(f'<a n="{"x" * 5000}"/>').get("n", "")) == xml_tree.VALUE_CHARACTERS


SIZE = 64 * 1024 * 1024 - 4096
SUITE, END = b'<testsuites><testsuite name="pytest">', b"</testsuite></testsuites>"


def filled(unit: bytes) -> bytes:
    return unit * (SIZE // len(unit))


def numbered(unit: bytes) -> bytes:
    count = SIZE // (len(unit) + 6)
    return b"".join(unit % number for number in range(count))


LARGE = {
    "tests": lambda: (
        SUITE
        + numbered(b'<testcase classname="t.m" name="x%d"><system-out>' + b"y" * 400 + b"</system-out></testcase>")
    ),
    "small tests": lambda: SUITE + numbered(b'<testcase name="%d"/>'),
    "output": lambda: (
        SUITE + b'<testcase name="\xf0\x9f\x98\x80"><system-out>' + filled(b"y\n") + b"</system-out></testcase>"
    ),
    "escapes": lambda: SUITE + b'<testcase name="x"><system-out>' + filled(b"&#9;") + b"</system-out></testcase>",
    "properties": lambda: SUITE + b'<testcase name="x">' + filled(b'<property name="a" value="b"/>') + b"</testcase>",
    "skips": lambda: SUITE + b'<testcase name="x">' + filled(b"<skipped/>") + b"</testcase>",
    "depth": lambda: filled(b"<testsuite>"),
    "attributes": lambda: b"<testsuites " + numbered(b'a%d="" ') + b"/>",
    "long attribute": lambda: SUITE + b'<testcase name="' + filled(b"x") + b'"/>',
    "comment": lambda: SUITE + b"<!--" + filled(b"x") + b"-->",
    "comments": lambda: SUITE + filled(b"<!---->"),
    "entities": lambda: b'<!DOCTYPE a [<!ENTITY b "c">' + filled(b'<!ENTITY b "c">') + b"]>" + SUITE,
    "open tags": lambda: filled(b"<a"),
}


@pytest.mark.parametrize("shape", ["output", "attributes", "depth", "entities"])  # measuring takes time
def test_large_report_costs_little_memory(shape: str) -> None:
    report = LARGE[shape]() + END
    tracemalloc.start()
    try:
        parse_bytes(report)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 200 * 1024 * 1024


@pytest.mark.parametrize("shape", LARGE)
def test_report_of_any_shape_costs_time_in_proportion(shape: str) -> None:
    report = LARGE[shape]()[: SIZE // 16] + END
    began = time.process_time()
    parse_bytes(report)
    assert time.process_time() - began < 10, "in the square of the size it would be minutes"
