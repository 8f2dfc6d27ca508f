"""Log of ``ctest -V``: its own results, and those of the GoogleTest programs that it has run."""

from assay.harness.domain import Status
from assay.harness.reports import ctest_text, googletest_text
from assay.harness.reports.base import worst

NAME = "ctest_programs_text"


def parse(text: str) -> dict[str, Status]:
    """Return test name to status: of programs, and ``Suite::Test`` of what they print."""
    return worst((*ctest_text.parse(text).items(), *googletest_text.parse(text).items()))


def find_gap(text: str) -> str:
    return ctest_text.find_gap(text) or googletest_text.find_gap(text)
