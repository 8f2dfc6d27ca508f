"""Names of SWE-bench's log parsers: the log format and the way to name tests that each stands for."""

from difflib import get_close_matches
from typing import NamedTuple

from assay.harness.reports import FORMATS

PREFIX = "parse_log_"

PYTEST_PARSERS = (
    "pytest astroid astropy flask marshmallow matplotlib pvlib pydicom pylint pyvista requests scikit seaborn "
    "sphinx sqlfluff xarray"
)


class LogParser(NamedTuple):
    """How to read the logs of a row, and how its labels name a test."""

    log_format: str
    test_id: str = ""
    """Name of a style in ``harness.reports.ids.IDS``; empty for the language's own."""
    language: str = "python"


PARSERS = dict.fromkeys(PYTEST_PARSERS.split(), LogParser("pytest_text")) | {
    "django": LogParser("unittest_text"),
    "sympy": LogParser("sympy_text", "function"),
    "tox": LogParser("tox_text"),
    "ant": LogParser("ant_text", "parens", "java"),
    "maven": LogParser("maven_text", "method", "java"),
    "gradle_custom": LogParser("gradle_text", "arrow", "java"),
    "cargo": LogParser("cargo_text", "node", "rust"),
    "gotest": LogParser("go_text", "node", "go"),
    "doctest": LogParser("doctest_xml", "arrow", "cpp"),
    "googletest": LogParser("googletest_text", "dot", "cpp"),
    "jq": LogParser("jq_text", "node", "c"),
    "micropython_test": LogParser("micropython_text", "node", "c"),
    "redis": LogParser("redis_text", "node", "c"),
    "jest": LogParser("jest_text", "title", "javascript"),
    "calypso": LogParser("jest_text", "dashed", "javascript"),
    "immutable_js": LogParser("jest_text", "any_title", "javascript"),
    "react_pdf": LogParser("jest_text", "file_title", "javascript"),
    "vitest": LogParser("vitest_text", "arrow", "javascript"),
    "karma": LogParser("karma_text", "arrow", "javascript"),
    "chart_js": LogParser("karma_text", "padded", "javascript"),
    "marked": LogParser("jasmine_text", "spaced", "javascript"),
    "p5js": LogParser("mocha_text", "colon", "javascript"),
    "tap": LogParser("tap", "spaced", "javascript"),
    "phpunit": LogParser("phpunit_text", "testdox", "php"),
    "jekyll": LogParser("jekyll_text", "method", "ruby"),
    "ruby_unit": LogParser("minitest_text", "title", "ruby"),
    "rspec_transformed_json": LogParser("rspec_text", "rspec", "ruby"),
}
"""Parsers by SWE-bench's name, without its prefix."""

UNKNOWN = LogParser("", "", "")  # the parser of a row that names none


def parser_named(name: str) -> LogParser:
    """Return the parser of a name; an unknown name is taken for a log format, an empty one gives ``UNKNOWN``."""
    known = PARSERS.get(name.removeprefix(PREFIX))
    return known or LogParser(name, "", "")


def check_format(log_format: str) -> str:
    """Return why no log can be read in a format, which a row names; empty if one can, or if it names none."""
    if not log_format or log_format in FORMATS:
        return ""
    known = [*(PREFIX + name for name in PARSERS), *FORMATS]
    near = " or ".join(get_close_matches(log_format, known, n=2)) or "parse_log_pytest"
    return f"{log_format!r} is no log parser that Assay knows; write one that it has, such as {near}"


def find_python_parser(repo: str) -> LogParser:
    """Return the parser of a Python repository, ``owner/name``: its own if it has one, else pytest's."""
    own = PARSERS.get(repo.rpartition("/")[2], UNKNOWN)
    return own if own.log_format else PARSERS["pytest"]


def parser_name(log_format: str, test_id: str) -> str:
    """Return SWE-bench's name for a parser; the log format itself if it has none."""
    if PARSERS["pytest"][:2] == (log_format, test_id):
        return PREFIX + "pytest"
    known = (PREFIX + name for name, parser in PARSERS.items() if parser[:2] == (log_format, test_id))
    return next(known, log_format)
