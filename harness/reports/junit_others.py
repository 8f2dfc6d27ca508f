"""JUnit XML of runners other than pytest: surefire, Gradle, jest, vitest, mocha, PHPUnit, RSpec, GoogleTest, ctest, ...

They agree on ``classname`` and ``name``, except a few that are recognised by the name of the document.
"""

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id

ROOT = "/testbed/"  # path of the tree in a container; files are named relative to it

CHILDREN = {
    "error": Status.ERROR,
    "failure": Status.FAILED,
    "skipped": Status.SKIPPED,
    "disabled": Status.SKIPPED,
    "warning": Status.SKIPPED,  # PHPUnit: a test that says nothing
}
"""Other children do not decide: output, properties, and failures before a retry that passed."""
_UNRUN = frozenset({"notrun", "disabled"})
_ORDER = (Status.PASSED, Status.SKIPPED, Status.FAILED, Status.ERROR)
_COULD_NOT_RUN = ("Unable to find", "Required Files Missing", "Fixture dependency failed", "Failed to")


def results(root: ET.Element) -> Iterator[Result]:
    dialect = _DIALECTS.get(root.get("name", ""))
    for suites, case in _cases(root):
        if test := dialect(case) if dialect else _plain(case, suites):
            yield test, _status(case)


def _cases(root: ET.Element) -> Iterator[tuple[tuple[str, ...], ET.Element]]:
    """Yield every test with the names of its suites, outermost first."""
    open_elements: list[tuple[tuple[str, ...], ET.Element]] = [((), root)]
    while open_elements:
        suites, element = open_elements.pop()
        if element.tag == "testcase":
            yield suites, element
        else:
            inner = (*suites, element.get("name", "")) if element.tag == "testsuite" else suites
            open_elements += [(inner, child) for child in reversed(element) if child.tag in {"testsuite", "testcase"}]


def _plain(case: ET.Element, suites: tuple[str, ...]) -> str:
    cls = case.get("class", case.get("classname", "")).strip()
    name = case.get("name", "").strip()
    if cls == name:  # ctest, and jest by default
        return join_id(name)
    if cls == "test":  # node:test gives every test this class
        return join_id(case.get("file", "").removeprefix(ROOT), *suites, name)
    return join_id(cls, name)


def _vitest(case: ET.Element) -> str:
    file, name = case.get("classname", ""), case.get("name", "")
    return join_id(file) if file == name else join_id(file, *name.split(" > "))


def _mocha(case: ET.Element) -> str:
    """Split the name, which in mocha's reporter is the whole title; the class is the innermost title."""
    whole, title = case.get("name", ""), case.get("classname", "")
    return join_id(whole.removesuffix(title).strip(), title) if whole.endswith(title) else join_id(title, whole)


def _nextest(case: ET.Element) -> str:
    """Return the path within the crate, as libtest prints it."""
    return case.get("name", "")


_DIALECTS: dict[str, Callable[[ET.Element], str]] = {
    "vitest tests": _vitest,
    "Mocha Tests": _mocha,
    "nextest-run": _nextest,
}


def _status(case: ET.Element) -> Status:
    statuses = [_child_status(child) for child in case if child.tag in CHILDREN]
    if case.get("status") in _UNRUN or case.get("result") == "suppressed":
        statuses.append(Status.SKIPPED)
    return max(statuses, key=_ORDER.index, default=Status.PASSED)


def _child_status(child: ET.Element) -> Status:
    if child.tag == "skipped" and child.get("message", "").startswith(_COULD_NOT_RUN):
        return Status.ERROR  # ctest: the program of the test is missing
    return CHILDREN[child.tag]
