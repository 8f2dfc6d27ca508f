"""What evidence decides without a benchmark's rule, and whether results can be believed. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from assay.harness import languages
from assay.harness.domain import (
    FAILING,
    FUZZED,
    PASSING,
    ApplyStatus,
    Channel,
    Evidence,
    FailedPart,
    Instance,
    Outcome,
    Status,
)
from assay.harness.program_output import cut_line
from assay.harness.reports import lookup
from assay.harness.reports.base import SEPARATOR
from assay.harness.rulings.normalise import match_labels

ROOT = "root"
NAMED = 5  # at most, of the files in a reason
KILLED = 137  # exit code of a process killed by SIGKILL: 128 + 9
FINISHED = frozenset({0, 1})  # exit codes of a runner that ran to its end, in an unknown language


class Ruling(NamedTuple):
    """What a rule says about an evaluation; the fields are those of ``Verdict``."""

    outcome: Outcome
    reason: str
    unfixed: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    measures: Mapping[str, float] = MappingProxyType({})
    flags: tuple[str, ...] = ()


def judge_without_tests(evidence: Evidence, *, silence_passes: bool = False) -> tuple[Outcome, str] | None:
    """Return outcome and reason if they need no test result; facts that a patch cannot write come first."""
    checks = (_check_failed_part, _check_apply, _check_limits, _check_strictness)
    answers = (check(evidence) for check in checks)
    silence_passes = silence_passes and evidence.report.suite_ran
    return next(filter(None, answers), None) or _check_consistency(evidence, silence_passes=silence_passes)


def _check_failed_part(evidence: Evidence) -> tuple[Outcome, str] | None:
    if evidence.failed_part is FailedPart.ENVIRONMENT:
        return Outcome.ENV_ERROR, cut_line(evidence.error)
    if evidence.failed_part is FailedPart.INFRASTRUCTURE:
        return Outcome.INFRA_ERROR, evidence.error
    return None


def _check_apply(evidence: Evidence) -> tuple[Outcome, str] | None:
    match evidence.apply.status:
        case ApplyStatus.REJECTED:
            return Outcome.PATCH_REJECTED, evidence.apply.detail
        case ApplyStatus.CONFLICT:
            return Outcome.PATCH_CONFLICT, evidence.apply.detail
        case ApplyStatus.EMPTY if evidence.exit_code is None and not evidence.report.tests:
            return Outcome.EMPTY_PATCH, evidence.apply.detail or "the patch is empty"
    return None


def _check_limits(evidence: Evidence) -> tuple[Outcome, str] | None:
    if evidence.timed_out:
        return Outcome.TIMED_OUT, "the tests did not end within the time limit"
    if evidence.disk_exceeded:
        return Outcome.OUTPUT_LIMIT, "the tests wrote more to the disk than the limit"
    if evidence.output_truncated:
        return Outcome.OUTPUT_LIMIT, "the tests wrote more output than the limit"
    if evidence.exit_code == KILLED and evidence.oom_killed:
        return Outcome.OUT_OF_MEMORY, "the test command was killed because memory ran out"
    if evidence.exit_code == KILLED:
        return Outcome.TAMPERED, "the test command was killed from inside: neither memory nor the deadline ended it"
    return None


def _check_strictness(evidence: Evidence) -> tuple[Outcome, str] | None:
    if evidence.strict and FUZZED in evidence.apply.normalized:
        return Outcome.PATCH_CONFLICT, "git does not apply the patch, and a strict run takes no other way"
    if evidence.strict and evidence.lacking:
        return Outcome.ENV_ERROR, f"the tree lacks {', '.join(evidence.lacking)}, which is not enough for a strict run"
    if evidence.strict and evidence.user == ROOT:
        return Outcome.NOT_RUN, "the tests ran as root, which is not enough for a strict run"
    if evidence.strict and evidence.report.channel is Channel.LOG:
        return Outcome.NOT_RUN, "the results are in a log alone, which is not enough for a strict run"
    return None


def _check_consistency(evidence: Evidence, *, silence_passes: bool = False) -> tuple[Outcome, str] | None:
    """Compare exit status and results, which must agree; an unknown status (an external log) is not judged."""
    report = evidence.report
    any_tripwire_ran = any(tripwire.reported is not Status.MISSING for tripwire in evidence.tripwires.values())
    if not report.tests and not any_tripwire_ran and not silence_passes:
        return Outcome.NOT_RUN, f"no test result was found (exit status {evidence.exit_code})"
    if evidence.rewritten:
        return Outcome.TAMPERED, f"changed while the tests ran: {', '.join(evidence.rewritten[:NAMED])}"
    if evidence.exit_code == 0 and _any_failed(evidence) and report.channel is Channel.REPORT:
        return Outcome.TAMPERED, "exit status 0 although tests failed"
    return None


def find_distrust(evidence: Evidence) -> str:
    """Return why none of a run's results can be trusted; empty if they can, or if there are none."""
    if evidence.exit_code is None or not evidence.report.tests:
        return ""
    report = evidence.report
    better = [name for name in report.disagreements if report.tests.get(name) in PASSING]
    found = _check_limits(evidence) or _check_consistency(evidence) or _check_tripwires(evidence)
    if found is None and (better or report.unprinted):
        return "report and output disagree"
    return found[1] if found else ""


def _any_failed(evidence: Evidence) -> bool:
    tripwires = (tripwire.reported for tripwire in evidence.tripwires.values())
    return any(status in FAILING for status in (*evidence.report.tests.values(), *tripwires))


def find_doubt(instance: Instance, evidence: Evidence, *, silence_passes: bool = False) -> tuple[Outcome, str] | None:
    """Check a resolved patch once more: tripwires, exit status, counts and other signs of a whole run."""
    return (
        _check_tripwires(evidence)
        or _check_exit_status(instance, evidence)
        or ((Outcome.NOT_RUN, evidence.report.gap) if evidence.report.gap else None)
        or (_check_silence(evidence) if silence_passes else None)
        or _check_disagreements(instance, evidence)
        or _check_muted_output(instance, evidence)
    )


def _check_tripwires(evidence: Evidence) -> tuple[Outcome, str] | None:
    wrong = Counter(
        f"{found} instead of {tripwire.expected} in the {channel}"
        for tripwire in evidence.tripwires.values()
        for channel, found in (("report", tripwire.reported), ("output", tripwire.printed))
        if found is not None and not _is_as_expected(found, tripwire.expected)
    )
    if wrong:
        counts = ", ".join(f"{count} {what}" for what, count in wrong.items())
        return Outcome.TAMPERED, f"of {len(evidence.tripwires)} tripwire tests: {counts}"
    return None


def _is_as_expected(found: Status, expected: Status) -> bool:
    """Compare a tripwire's status; runners disagree about which failures are errors."""
    return found in FAILING if expected in FAILING else found is expected


def _check_exit_status(instance: Instance, evidence: Evidence) -> tuple[Outcome, str] | None:
    language = languages.find_or_none(instance.language)
    finished = language.FINISHED if language else FINISHED
    if evidence.exit_code is not None and evidence.exit_code not in finished:
        return Outcome.NOT_RUN, f"exit status {evidence.exit_code}: the test runner did not finish its work"
    if evidence.exit_code and not _any_failed(evidence):
        return Outcome.NOT_RUN, f"exit status {evidence.exit_code} although no test failed"
    return None


def _check_disagreements(instance: Instance, evidence: Evidence) -> tuple[Outcome, str] | None:
    """Compare both channels: no test can undo what its runner has printed, so a better report is forged."""
    doubtful = _count_expected(evidence.report.disagreements, instance, evidence)
    if doubtful:
        return Outcome.TAMPERED, f"the report and the output disagree about {doubtful} expected tests"
    return None


def _check_muted_output(instance: Instance, evidence: Evidence) -> tuple[Outcome, str] | None:
    """Require that a runner which prints every test has printed the expected ones."""
    silent = _count_expected(evidence.report.unprinted, instance, evidence)
    if silent:
        return Outcome.TAMPERED, f"{silent} expected tests pass in the report and are nowhere in the output"
    return None


def _count_expected(names: Iterable[str], instance: Instance, evidence: Evidence) -> int:
    tests = match_labels(instance, evidence.report.tests)
    doubtful = {name: tests[name] for name in names if tests.get(name) in PASSING}
    labels = (*instance.fail_to_pass, *instance.pass_to_pass)
    return sum(_stands_for_any(label, doubtful) for label in labels) if doubtful else 0


def _stands_for_any(label: str, tests: Mapping[str, Status]) -> bool:
    """Return whether a label stands for one of the tests, or for the whole file of one."""
    inside = label + SEPARATOR
    return lookup(label, tests) != {Status.MISSING} or any(name.startswith(inside) for name in tests)


def _check_silence(evidence: Evidence) -> tuple[Outcome, str] | None:
    """Require a sign that the suite was not cut off, where a test that is not reported has passed."""
    if evidence.report.suite_ran or any(status in PASSING for status in evidence.report.tests.values()):
        return None
    return Outcome.NOT_RUN, "only failures are reported, and nothing shows that the suite ran to its end"
