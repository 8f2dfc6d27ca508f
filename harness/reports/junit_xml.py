"""JUnit XML, from pytest and from every other runner that writes it."""

import re
import xml.etree.ElementTree as ET

from assay.harness.domain import Status
from assay.harness.reports import junit_others, junit_pytest
from assay.harness.reports.base import worst

NAME = "junit_xml"

_DOCTYPE = re.compile(r"\ufeff?(?:\s|<\?.*?\?>|<!--.*?-->)*+<!DOCTYPE", re.DOTALL)


def parse(text: str) -> dict[str, Status]:
    """Return test id to status: pytest's node id, or ``class::name`` of other runners.

    Text that is no XML, or that declares a document type, gives an empty dict.
    """
    if _DOCTYPE.match(text):
        return {}  # entities can expand without bound, and no test runner needs them
    try:
        root = ET.fromstring(text)
    except ET.ParseError:
        return {}
    cases = list(root.iter("testcase"))
    return worst(junit_pytest.results(cases) if junit_pytest.is_pytest(root, cases) else junit_others.results(root))
