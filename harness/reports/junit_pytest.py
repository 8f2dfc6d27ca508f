"""JUnit XML of pytest, in every dialect since pytest 2; node ids are rebuilt."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterable, Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import Result

NAMES = frozenset({"", "pytest", "pytest tests"})
"""Names of pytest's suite, unless a project configures another."""

_CLASS_LIKE = re.compile(r"_*[A-Z]")

# pytest before 3.0 marks these two in the message only.
_SKIP_MESSAGES = {"expected test failure": Status.XFAIL, "xfail-marked test passes unexpectedly": Status.PASSED}


def is_pytest(root: ET.Element, cases: Iterable[ET.Element]) -> bool:
    """Return whether pytest wrote a document: by the suite's name, or because its tests are in Python files."""
    if any(case.get("file", "").endswith(".py") for case in cases):
        return True
    if root.tag == "testsuites" and root.find("testcase") is not None:
        return False
    return {element.get("name", "") for element in root.iter() if element.tag.startswith("testsuite")} <= NAMES


def results(cases: Collection[ET.Element]) -> Iterator[Result]:
    modules = _modules(cases)
    return ((_node_id(case, modules), _status(case)) for case in cases)


def _modules(cases: Iterable[ET.Element]) -> dict[str, str]:
    """Return dotted module to path, for the tests that ran in the module that defines them."""
    modules = {}
    for path, classname in {(case.get("file", ""), case.get("classname", "")) for case in cases}:
        module = path.removesuffix(".py").replace("/", ".")
        if module and f"{classname}.".startswith(f"{module}."):
            modules[module] = path
    return modules


def _node_id(case: ET.Element, modules: dict[str, str]) -> str:
    """Rebuild pytest's node id of a test.

    ``file`` is where the test function is defined; an inherited test may have run in another module. So the class name
    decides, and files only show where in it the module ends.
    """
    classname, name = case.get("classname", ""), case.get("name", "")
    if not classname:  # a module that could not be imported
        return case.get("file") or name.replace(".", "/") + ".py"
    module = _find_module(classname, modules)
    path = modules.get(module) or module.replace(".", "/") + ".py"
    classes = classname[len(module) + 1 :]
    return "::".join([path, *(part for part in classes.split(".") if part not in {"", "()"}), name])


def _find_module(classname: str, modules: Collection[str]) -> str:
    """Return the longest known module that the class name starts with, else the part before the capitalised tail."""
    parts = classname.split(".")
    prefixes = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((prefix for prefix in prefixes if prefix in modules), None) or _before_classes(parts)


def _before_classes(parts: list[str]) -> str:
    end = len(parts)
    while end > 1 and _CLASS_LIKE.match(parts[end - 1]):
        end -= 1
    return ".".join(parts[:end])


def _status(case: ET.Element) -> Status:
    statuses = _child_statuses(case)
    return max(statuses, key=[Status.PASSED, Status.XFAIL, Status.SKIPPED, Status.FAILED, Status.ERROR].index)


def _child_statuses(case: ET.Element) -> Iterable[Status]:
    yield Status.PASSED
    for child in case:
        if child.tag == "error":
            yield Status.ERROR
        elif child.tag == "failure":
            yield Status.FAILED
        elif child.tag == "skipped":
            yield _skip_status(child)


def _skip_status(skipped: ET.Element) -> Status:
    if skipped.get("type") == "pytest.xfail":
        return Status.XFAIL
    return _SKIP_MESSAGES.get(skipped.get("message", ""), Status.SKIPPED)
