"""Names of SWE-bench's log parsers: the log format and the way to name tests that each stands for."""

from difflib import get_close_matches
from typing import NamedTuple

from assay.harness.reports import FORMATS
from assay.harness.templates import read_table

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


TABLE = read_table(__file__)
PARSERS: dict[str, LogParser] = dict.fromkeys(PYTEST_PARSERS.split(), LogParser("pytest_text")) | {
    name: LogParser(*row) for name, row in TABLE["swe_bench"].items()
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
