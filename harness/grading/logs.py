"""Grade a folder of external test logs, and compare with the verdicts published for them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.harness import languages
from assay.harness.benchmarks import find_benchmark
from assay.harness.domain import Apply, ApplyStatus, Channel, Evidence, FailedPart, Instance, TestReport, Verdict
from assay.harness.errors import DataError
from assay.harness.evaluation.evaluate import NO_TRIPWIRES
from assay.harness.grading.grade import grade
from assay.harness.grading.log_trees import LOOKED_FOR, find_logs, read_resolved
from assay.harness.names import count
from assay.harness.reports import find, find_gap, read_log, suite_ran
from assay.harness.reports.markers import cut_fenced, is_cut

LOG_ALONE = "log_alone"  # flag of a verdict on a log that was made elsewhere

_EXIT_CODE = re.compile(r"(?:^|(?<=\S))>{5} Test Exit Code: (\d+)\s*$", re.MULTILINE)
_MARKER = re.compile(
    r"^(?:\++ : '?)?>{5} (Patch Apply Failed|Reset Failed|Tests Errored|Tests Timed Out)\b", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class LogGrades:
    """Verdicts of a folder of logs, compared with published ones."""

    logs: Mapping[str, Path]
    verdicts: Mapping[str, Verdict]
    evidence: Mapping[str, Evidence]
    agreements: tuple[str, ...]
    disagreements: tuple[str, ...]
    unpublished: tuple[str, ...]
    strangers: tuple[str, ...]
    """Paths of logs that match no given instance."""

    @property
    def agreement(self) -> float:
        """Share of the compared verdicts that agree, 0 to 1; 1 if there was nothing to compare."""
        compared = len(self.agreements) + len(self.disagreements)
        return len(self.agreements) / compared if compared else 1.0


def grade_logs(folder: Path, instances: Sequence[Instance], published: Mapping[str, bool] | None = None) -> LogGrades:
    """Grade every log below a folder, and list logs without an instance.

    Args:
        folder: with logs as in ``log_trees``; ids in any case.
        instances: their ``log_format`` is the format of their logs.
        published: instance id to the published "resolved" of the same log, in place of what lies beside it.

    Raises:
        DataError: a folder cannot be read, two logs are of one instance, or none is of any.
        UserError: an instance names an unknown log format.
    """
    logs, strangers = find_logs(folder, [instance.id for instance in instances])
    if not logs:
        others = f"; of the {count(len(strangers), 'log')} there none has a row ({strangers[0]})" if strangers else ""
        raise DataError(f"holds no log of these instances{others}; looked for {LOOKED_FOR}", file=str(folder))
    by_id = {instance.id: instance for instance in instances}
    evidence = {name: read_evidence(by_id[name], read_text(path)) for name, path in logs.items()}
    verdicts = {name: grade(by_id[name], evidence[name]) for name in logs}
    known = {name.lower(): resolved for name, resolved in (published or {}).items()}
    said = {name: known.get(name.lower(), read_resolved(path, name)) for name, path in logs.items()}
    compared = {name: resolved for name, resolved in said.items() if resolved is not None}
    return LogGrades(
        logs=logs,
        verdicts=verdicts,
        evidence=evidence,
        agreements=tuple(name for name, resolved in compared.items() if verdicts[name].resolved == resolved),
        disagreements=tuple(name for name, resolved in compared.items() if verdicts[name].resolved != resolved),
        unpublished=tuple(name for name in logs if name not in compared),
        strangers=strangers,
    )


def read_evidence(instance: Instance, text: str) -> Evidence:
    found, codes = _MARKER.search(text), _EXIT_CODE.findall(text)
    marker = found[1] if found else ""
    broken = marker in {"Reset Failed", "Tests Errored"}
    return Evidence(
        instance_id=instance.id,
        apply=_read_apply(marker),
        exit_code=int(codes[-1][:9]) if codes else None,  # what stands before it is the tests' output
        timed_out=marker == "Tests Timed Out",
        report=TestReport() if marker or is_cut(text) else _read_report(instance, text),
        flags=(LOG_ALONE, NO_TRIPWIRES),
        error=f"the log says: {marker}" if broken else "",
        failed_part=FailedPart.ENVIRONMENT if broken else FailedPart.NONE,
    )


def read_text(path: Path) -> str:
    """Read a log, with a replacement for bytes that are not UTF-8; raises DataError."""
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", file=str(path)) from error


def _read_report(instance: Instance, text: str) -> TestReport:
    language = languages.find(instance.language)
    log_format, style = instance.log_format or language.DEFAULT_LOG, instance.test_id or language.DEFAULT_ID
    label_test = find_benchmark(instance.rule).label_test
    tests = read_log(find(log_format), text, style, label_test and label_test(instance))
    ran = suite_ran(log_format, cut_fenced(text), tests)
    channel = Channel.LOG if tests or ran else Channel.NONE
    gap = find_gap(log_format, cut_fenced(text))
    return TestReport(channel=channel, format=log_format, tests=tests, suite_ran=ran, gap=gap)


def _read_apply(marker: str) -> Apply:
    if marker == "Patch Apply Failed":
        return Apply(status=ApplyStatus.CONFLICT, detail="the log says that the patch did not apply")
    return Apply(status=ApplyStatus.APPLIED)
