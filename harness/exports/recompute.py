"""Grades a log of unknown format again, with labels that are known and by the benchmark's own rule."""

import re
from collections.abc import Iterator, Sequence

from assay.harness.benchmarks import find_benchmark, swe_bench
from assay.harness.domain import UNKNOWN_TIME, ApplyStatus, Channel, Instance, Rule, Status, TestReport
from assay.harness.grading.grade import grade
from assay.harness.grading.logs import read_evidence
from assay.harness.languages import LANGUAGES
from assay.harness.languages.base import unchanged
from assay.harness.reports import FORMATS, IDS, names_a_test, suite_ran
from assay.harness.reports.base import FailuresOnly
from assay.harness.reports.ids import rename
from assay.harness.reports.markers import cut_fenced, is_cut
from assay.harness.reports.results import full_log
from assay.harness.rulings.normalise import match_labels
from assay.harness.runs.report import Graded

Reading = tuple[str, str, str, Rule]
"""A log's format, how labels name its tests, the language that says which parts of names vary, and the rule."""


class Recomputation:
    """Grades logs; the reading that explained one log is tried first on the next."""

    def __init__(self) -> None:
        self._last: Reading | None = None

    def lacking(self, text: str, fail_to_pass: Sequence[str], pass_to_pass: Sequence[str]) -> tuple[str, ...]:
        """Return the labels that keep a log from being resolved, in the reading that leaves fewest.

        Every known format, way to name tests, and language is tried. A format that names failures only is read by
        SWE-bench's fail_only rule too, if it says that the suite has run.
        """
        labels = Instance(
            id="log",
            repo="",
            problem_statement="",
            gold_patch="",
            test_patch="",
            fail_to_pass=tuple(fail_to_pass),
            pass_to_pass=tuple(test for test in pass_to_pass if test not in {*fail_to_pass}),
            created_at=UNKNOWN_TIME,
        )
        log = _Log(labels, text)
        fewest = (*labels.fail_to_pass, *labels.pass_to_pass)
        for reading in self._readings(log):
            found = log.lacking(reading)
            if not found:
                self._last = reading
                return ()
            fewest = min(fewest, found, key=len)
        return fewest

    def _readings(self, log: "_Log") -> Iterator[Reading]:
        if self._last is not None:
            yield self._last
        languages = ["python", *(name for name, each in LANGUAGES.items() if each.normalise is not unchanged)]
        for name, reader in FORMATS.items():
            if log.tests(name):
                rule = swe_bench.BENCHMARK.name
                yield from ((name, style, language, rule) for language in languages for style in IDS)
            if isinstance(reader, FailuresOnly):
                yield name, "node", "python", swe_bench.FAIL_ONLY.name


class _Log:
    """One log, parsed once in each format."""

    def __init__(self, labels: Instance, text: str) -> None:
        self._labels, self._text = labels, text
        self._facts = read_evidence(labels, text)
        self._readable = self._facts.apply.status is ApplyStatus.APPLIED and not is_cut(text)
        self._tests: dict[str, dict[str, Status]] = {}

    def tests(self, log_format: str) -> dict[str, Status]:
        """Return the tests that a format finds, under their full ids; none in a log that is cut or has no run."""
        if log_format not in self._tests:
            self._tests[log_format] = full_log(FORMATS[log_format], self._text) if self._readable else {}
        return self._tests[log_format]

    def lacking(self, reading: Reading) -> tuple[str, ...]:
        log_format, style, language, rule = reading
        tests = rename(self.tests(log_format), style)
        ran = self._readable and suite_ran(log_format, cut_fenced(self._text), tests)
        report = TestReport(channel=Channel.LOG if tests or ran else Channel.NONE, tests=tests, suite_ran=ran)
        instance = self._labels.model_copy(update={"language": language, "rule": rule})
        evidence = self._facts.model_copy(update={"report": report})
        verdict = grade(instance, evidence)
        if not verdict.resolved:
            every = (*instance.fail_to_pass, *instance.pass_to_pass)
            return (*verdict.unfixed, *verdict.broken) or every
        unfixed, broken = against(Graded(instance, evidence, verdict), self._text)
        return (*unfixed, *broken)


def against(graded: Graded, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the labels that the benchmark's rule counts against a patch: (unfixed, broken).

    Assay leaves out labels that can name no test, such as ``[100%]``. The benchmark does not: its parser has them from
    lines such as ``PASSED [100%]``, so the log has to have one.
    """
    instance = graded.instance
    rule = find_benchmark(instance.rule).label_rule
    unfixed, broken = rule(instance, match_labels(instance, graded.tests)) if rule else ((), ())
    first, second = ([each for each in found if not _is_mark(each, text)] for found in (unfixed, broken))
    return tuple(first), tuple(second)


def _is_mark(label: str, text: str) -> bool:
    return not names_a_test(label) and re.search(rf"^PASSED\s+{re.escape(label)}(\s|$)", text, re.MULTILINE) is not None
