"""A run as JUnit XML, which CI servers show: ``junit.xml`` with one test case for each instance.

Resolved passes. What the patch caused is a failure, what the infrastructure caused is an error, and an instance without
a prediction is skipped.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from assay.harness.domain import INFRASTRUCTURE
from assay.harness.errors import DataError
from assay.harness.exports.base import Problem, RunToExport
from assay.harness.exports.complaints import SubmittedFolder
from assay.harness.runs.report import Graded

NAME = "junit"
LEADERBOARD = False
REQUIRED: tuple[str, ...] = ()
FILE = "junit.xml"
KINDS = {"failure": "failures", "error": "errors", "skipped": "skipped"}
"""What a case holds if it did not pass, and the attribute of a suite that counts such cases."""
TAIL = 4000  # characters of a failed instance's output that are kept: its end

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def files(run: RunToExport) -> Iterator[tuple[str, bytes]]:
    suite = ElementTree.Element("testsuite", name=_clean(run.manifest.id), timestamp=run.manifest.started)
    seconds, counts = 0.0, Counter[str]()
    for each in run.evaluations():
        seconds += each.evidence.timings.total
        counts[_add_case(suite, run, each)] += 1
    for name in run.missing:
        case = ElementTree.SubElement(suite, "testcase", classname=_clean(run.manifest.id), name=name)
        ElementTree.SubElement(case, "skipped", message="there is no prediction")
        counts["skipped"] += 1
    suite.set("tests", str(len(suite)))
    suite.set("time", f"{seconds:.3f}")
    for kind, plural in KINDS.items():
        suite.set(plural, str(counts[kind]))
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    yield FILE, ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def check(folder: Path) -> Iterator[Problem]:
    """Yield cases that a CI server would count wrong; raises DataError for no XML."""
    try:
        root = ElementTree.fromstring(SubmittedFolder(folder, folder).text(FILE))
    except ElementTree.ParseError as error:
        raise DataError(f"is not XML: {error}", file=FILE) from None
    for suite in root.iter("testsuite"):
        cases = suite.findall("testcase")
        counts = {plural: sum(case.find(kind) is not None for case in cases) for kind, plural in KINDS.items()}
        for field, count in {"tests": len(cases), **counts}.items():
            if suite.get(field) != str(count):
                yield Problem(FILE, f"{suite.get('name')}: {field}", f"is {suite.get(field)}; write {count}")
        for name, count in Counter(case.get("name") or "" for case in cases).items():
            if count > 1 or not name:
                yield Problem(FILE, name or "name", f"is there {count} times; every instance is one named test case")


def _add_case(suite: ElementTree.Element, run: RunToExport, graded: Graded) -> str:
    """Add an instance; return the kind of its result, empty if it is resolved."""
    verdict = graded.verdict
    case = ElementTree.SubElement(
        suite,
        "testcase",
        classname=_clean(graded.instance.repo.replace("/", ".") or run.manifest.id),
        name=verdict.instance_id,
        time=f"{graded.evidence.timings.total:.3f}",
    )
    if verdict.resolved:
        return ""
    kind = "error" if verdict.outcome in INFRASTRUCTURE else "failure"
    result = ElementTree.SubElement(case, kind, type=verdict.outcome, message=_clean(verdict.reason))
    tests = [f"unfixed: {test}" for test in verdict.unfixed] + [f"broken: {test}" for test in verdict.broken]
    result.text = _clean("\n".join([*tests, *(f"flag: {flag}" for flag in verdict.flags)]))
    if output := run.output(verdict.instance_id).decode(errors="replace"):
        ElementTree.SubElement(case, "system-out").text = _clean(output[-TAIL:])
    return kind


def _clean(text: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
