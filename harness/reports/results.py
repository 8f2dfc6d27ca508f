"""One report from the report files and the output of a run: files first, the output as fallback and second witness."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping

from assay.harness.domain import FAILING, PASSING, Channel, Status, TestPlan, TestReport, Tripwire
from assay.harness.reports.base import SEPARATOR, ReportFormat, merge_worst, plain_lines, worst
from assay.harness.reports.ids import rename
from assay.harness.reports.markers import cut_fenced

_WORD = re.compile(r"\w+")


def full(reader: ReportFormat, texts: Iterable[str]) -> dict[str, Status]:
    """Parse several texts of one format; tests have their full ids and their worst status."""
    return merge_worst([reader.parse(text) for text in texts])


def read_log(
    reader: ReportFormat, text: str, test_id: str = "node", is_label: Callable[[str], bool] | None = None
) -> dict[str, Status]:
    """Parse a log: the fenced test output, or the whole text if the fenced part names no test."""
    left_out = find_overlooked(reader, [text]) if is_label else ()
    return rename(drop_tests(full_log(reader, text), left_out), test_id, is_label)


def find_overlooked(reader: ReportFormat, texts: Iterable[str]) -> frozenset[str]:
    """Return the full ids of the tests in texts of a format that parsers as of ``base.PartlySeen`` overlook."""
    found = getattr(reader, "overlooked", None)
    return frozenset[str]().union(*map(found, texts)) if found else frozenset()


def drop_tests(tests: Mapping[str, Status], names: Collection[str]) -> dict[str, Status]:
    return {test: status for test, status in tests.items() if test not in names}


def full_log(reader: ReportFormat, text: str) -> dict[str, Status]:
    """Parse a log as ``read_log`` does; tests have their full ids."""
    inner = cut_fenced(text)
    return full(reader, [inner]) or (full(reader, [text]) if inner != text else {})


def split_tripwires(
    tests: Mapping[str, Status], names: Mapping[str, Status]
) -> tuple[dict[str, Status], dict[str, Status]]:
    """Part results by full id into those of a project's own tests, and those of the tripwires by their names.

    ``names`` has the status that each must have. The first name in an id counts: before Python 3.11, unittest puts the
    class, which is a tripwire too, behind the test. Names that must be missing come last: mocha puts the tests of one
    file into the one before it.
    """
    if not names:
        return dict(tests), {}
    known = {test: [word for word in _WORD.findall(test) if word in names] for test in tests}
    found = {
        test: min(words, key=lambda word: names[word] is Status.MISSING, default="") for test, words in known.items()
    }
    own = {test: status for test, status in tests.items() if not found[test]}
    return own, worst((found[test], status) for test, status in tests.items() if found[test])


def choose_named(tests: Mapping[str, Status], words: Collection[str]) -> dict[str, Status]:
    """Return the results by full id that have one of some words in it."""
    sought = {*words}
    return {test: status for test, status in tests.items() if not sought.isdisjoint(_WORD.findall(test))}


def collect_tripwires(
    expected: Mapping[str, Status],
    report: Mapping[str, Status],
    logged: Mapping[str, Status],
    prints: Collection[Status],
) -> dict[str, Tripwire]:
    """Return every tripwire with the statuses that report and output give it.

    Where a plan has no report file, ``report`` has the statuses of the output. Those in ``prints`` are printed by test.
    """
    return {
        name: Tripwire(
            expected=status,
            reported=report.get(name, Status.MISSING),
            printed=logged.get(name, Status.MISSING) if status in prints else None,
        )
        for name, status in expected.items()
    }


def find_unprinted(ran: Iterable[str], output: str, named: Callable[[str], Iterable[str]]) -> tuple[str, ...]:
    """Return the names, for labels, of the tests that ran and that the output of a talkative runner does not name."""
    words = {word for line in plain_lines(output) for word in _WORD.findall(line)}
    silent = (test for test in ran if not words.issuperset(_WORD.findall(test.rpartition(SEPARATOR)[2])[:1]))
    return tuple(dict.fromkeys(name for test in silent for name in named(test)))


def _contradict(one: Status, other: Status) -> bool:
    """Return whether one passes and the other fails; some runners print a passed test with a warning as skipped."""
    return (one in PASSING and other in FAILING) or (one in FAILING and other in PASSING)


def combine(plan: TestPlan, structured: dict[str, Status], logged: dict[str, Status], log_ended: bool) -> TestReport:
    """Return the report of one run from the tests in its report files and in its log.

    ``log_ended``: the log shows that the suite ran to its end; it may still name no test.
    """
    if structured:
        both = structured.keys() & logged.keys()
        differing = sorted(test for test in both if _contradict(structured[test], logged[test]))
        return TestReport(
            channel=Channel.REPORT,
            format=plan.report_format,
            tests=structured,
            disagreements=tuple(differing),
            suite_ran=True,
        )
    if (logged or log_ended) and not plan.report_path:  # else a patch could choose the log, by breaking the report
        return TestReport(channel=Channel.LOG, format=plan.log_format, tests=logged, suite_ran=log_ended)
    return TestReport()
