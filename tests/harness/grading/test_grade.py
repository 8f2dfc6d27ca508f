from collections.abc import Callable
from typing import Any

import pytest

from assay.harness.domain import (
    Apply,
    ApplyStatus,
    Channel,
    Evidence,
    FailedPart,
    Instance,
    Outcome,
    Rule,
    Stages,
    Status,
    TestReport,
    Tripwire,
)
from assay.harness.grading.grade import grade
from assay.harness.rulings.doubts import find_distrust

FIXED = "tests/test_calc.py::test_add"
KEPT = "tests/test_calc.py::test_same"


def evidence(tests: dict[str, Status] | None = None, *, exit_code: int | None = 0, **changes: Any) -> Evidence:
    report = TestReport(channel=changes.pop("channel", Channel.REPORT), tests=tests or {})
    apply = Apply(status=changes.pop("apply", ApplyStatus.APPLIED), detail=changes.pop("detail", ""))
    fields = {"instance_id": "acme__calc-1", "apply": apply, "exit_code": exit_code, "report": report}
    return Evidence.model_validate({**fields, **changes})


def test_all_expected_tests_passed_is_resolved(instance: Instance) -> None:
    verdict = grade(instance, evidence({FIXED: Status.PASSED, KEPT: Status.PASSED}))
    assert verdict.resolved
    assert (verdict.unfixed, verdict.broken) == ((), ())


@pytest.mark.parametrize(
    ("fixed", "kept", "resolved"),
    [
        (Status.PASSED, Status.SKIPPED, True),
        (Status.PASSED, Status.XFAIL, True),
        (Status.XFAIL, Status.PASSED, False),
        (Status.SKIPPED, Status.PASSED, False),
        (Status.FAILED, Status.PASSED, False),
        (Status.PASSED, Status.ERROR, False),
        (Status.PASSED, Status.MISSING, False),
        (Status.MISSING, Status.PASSED, False),
    ],
)
def test_swe_bench_rule(instance: Instance, fixed: Status, kept: Status, resolved: bool) -> None:
    tests = {test: status for test, status in ((FIXED, fixed), (KEPT, kept)) if status is not Status.MISSING}
    failing = {Status.FAILED, Status.ERROR} & set(tests.values())
    verdict = grade(instance, evidence(tests, exit_code=1 if failing else 0))
    assert verdict.resolved is resolved
    assert (verdict.unfixed == (FIXED,)) is (fixed is not Status.PASSED)


def test_expected_failure_counts_if_the_test_patch_can_have_declared_it(
    make_instance: Callable[..., Instance],
) -> None:
    xfailed = evidence({FIXED: Status.XFAIL, KEPT: Status.PASSED})
    assert not grade(make_instance(), xfailed).resolved
    assert grade(make_instance(test_patch="+@pytest.mark.xfail\n"), xfailed).resolved


def test_skipped_pass_to_pass_test_is_flagged(instance: Instance) -> None:
    verdict = grade(instance, evidence({FIXED: Status.PASSED, KEPT: Status.SKIPPED}))
    assert verdict.flags == ("pass_to_pass_tests_skipped",)


def test_fail_only_rule_counts_what_is_not_reported_as_passed(make_instance: Callable[..., Instance]) -> None:
    instance = make_instance(rule=Rule.SWE_BENCH_FAIL_ONLY)
    assert grade(instance, evidence({"other": Status.PASSED})).resolved
    assert not grade(instance, evidence({FIXED: Status.FAILED}, exit_code=1)).resolved


def test_fail_only_rule_needs_evidence_that_tests_ran(make_instance: Callable[..., Instance]) -> None:
    instance = make_instance(rule=Rule.SWE_BENCH_FAIL_ONLY)
    assert grade(instance, evidence({})).outcome is Outcome.NOT_RUN


def test_instance_without_fail_to_pass_tests_is_never_resolved(make_instance: Callable[..., Instance]) -> None:
    instance = make_instance(fail_to_pass=())
    assert grade(instance, evidence({KEPT: Status.PASSED})).outcome is Outcome.UNRESOLVED


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"apply": ApplyStatus.REJECTED}, Outcome.PATCH_REJECTED),
        ({"apply": ApplyStatus.CONFLICT}, Outcome.PATCH_CONFLICT),
        ({"apply": ApplyStatus.EMPTY, "exit_code": None}, Outcome.EMPTY_PATCH),
        ({"timed_out": True, "exit_code": 137}, Outcome.TIMED_OUT),
        ({"timed_out": True, "oom_killed": True, "exit_code": 137}, Outcome.TIMED_OUT),
        ({"output_truncated": True, "exit_code": 137}, Outcome.OUTPUT_LIMIT),
        ({"oom_killed": True, "exit_code": 137}, Outcome.OUT_OF_MEMORY),
        ({"exit_code": 137}, Outcome.TAMPERED),
        ({"disk_exceeded": True, "exit_code": 137}, Outcome.OUTPUT_LIMIT),
        ({"failed_part": FailedPart.ENVIRONMENT, "apply": ApplyStatus.EMPTY}, Outcome.ENV_ERROR),
        ({"failed_part": FailedPart.INFRASTRUCTURE, "timed_out": True}, Outcome.INFRA_ERROR),
    ],
)
def test_outcome_comes_from_the_engine_not_from_tests(
    instance: Instance, changes: dict[str, Any], outcome: Outcome
) -> None:
    assert grade(instance, evidence(**changes)).outcome is outcome


def test_timeout_with_passed_tests_is_timed_out(instance: Instance) -> None:
    late = evidence({FIXED: Status.PASSED, KEPT: Status.PASSED}, timed_out=True, exit_code=137)
    assert grade(instance, late).outcome is Outcome.TIMED_OUT


def test_failing_exit_status_without_a_failed_test_is_not_run(instance: Instance) -> None:
    odd = evidence({FIXED: Status.PASSED, KEPT: Status.PASSED}, exit_code=2)
    assert grade(instance, odd).outcome is Outcome.NOT_RUN


def test_exit_status_zero_with_failed_tests_is_tampered(instance: Instance) -> None:
    odd = evidence({FIXED: Status.FAILED, KEPT: Status.PASSED}, exit_code=0)
    assert grade(instance, odd).outcome is Outcome.TAMPERED


def test_unknown_exit_status_is_not_judged(instance: Instance) -> None:
    log = evidence({FIXED: Status.PASSED, KEPT: Status.PASSED}, exit_code=None, channel=Channel.LOG)
    verdict = grade(instance, log)
    assert verdict.resolved
    assert verdict.flags == ("read_from_log",)


def test_killed_child_is_a_warning(instance: Instance) -> None:
    verdict = grade(instance, evidence({FIXED: Status.PASSED, KEPT: Status.PASSED}, oom_killed=True))
    assert verdict.resolved
    assert "child_out_of_memory" in verdict.flags


@pytest.mark.parametrize(
    ("language", "exit_code", "outcome"),
    [
        ("rust", 101, Outcome.RESOLVED),
        ("rust", 1, Outcome.NOT_RUN),
        ("python", 101, Outcome.NOT_RUN),
        ("python", 2, Outcome.NOT_RUN),
        ("cobol", 1, Outcome.RESOLVED),
        ("cobol", 2, Outcome.NOT_RUN),
    ],
)
def test_finished_exit_statuses_are_those_of_the_language(
    make_instance: Callable[..., Instance], language: str, exit_code: int, outcome: Outcome
) -> None:
    tests = {FIXED: Status.PASSED, KEPT: Status.PASSED, "other": Status.FAILED}
    assert grade(make_instance(language=language), evidence(tests, exit_code=exit_code)).outcome is outcome


def test_labels_that_name_no_test_are_left_out(make_instance: Callable[..., Instance]) -> None:
    instance = make_instance(fail_to_pass=("[100%]",))
    assert grade(instance, evidence({KEPT: Status.PASSED})).outcome is Outcome.UNRESOLVED


P, F, E, M = Status.PASSED, Status.FAILED, Status.ERROR, Status.MISSING


def tripwires(passing: Status, failing: Status, printed: Status | None = None) -> dict[str, Tripwire]:
    """A tripwire that must pass, and one that must fail, which the output may name as well."""
    return {
        "test_x": Tripwire(expected=P, reported=passing),
        "test_y": Tripwire(expected=F, reported=failing, printed=printed),
    }


RIGHT = tripwires(P, F)


@pytest.mark.parametrize(
    ("found", "exit_code", "outcome"),
    [
        (RIGHT, 1, Outcome.RESOLVED),
        (tripwires(P, E), 1, Outcome.RESOLVED),
        (tripwires(P, F, printed=F), 1, Outcome.RESOLVED),
        (tripwires(P, F, printed=M), 1, Outcome.TAMPERED),
        (tripwires(P, F, printed=P), 1, Outcome.TAMPERED),
        (tripwires(P, P), 1, Outcome.TAMPERED),
        (tripwires(P, M), 1, Outcome.TAMPERED),
        (tripwires(M, F), 1, Outcome.TAMPERED),
        (tripwires(F, F), 1, Outcome.TAMPERED),
        (tripwires(P, Status.SKIPPED), 1, Outcome.TAMPERED),
        (tripwires(M, M), 0, Outcome.TAMPERED),
        (RIGHT, 0, Outcome.TAMPERED),
        (RIGHT, 2, Outcome.NOT_RUN),
        (RIGHT, 137, Outcome.TAMPERED),
        (RIGHT, 139, Outcome.NOT_RUN),
    ],
)
def test_resolved_needs_correct_tripwires_and_exit_status(
    instance: Instance, found: dict[str, Tripwire], exit_code: int, outcome: Outcome
) -> None:
    seen = evidence({FIXED: P, KEPT: P}, exit_code=exit_code, tripwires=found)
    assert grade(instance, seen).outcome is outcome


def test_correct_tripwires_do_not_resolve(instance: Instance) -> None:
    found = evidence({FIXED: F, KEPT: P}, exit_code=1, tripwires=RIGHT)
    assert grade(instance, found).outcome is Outcome.UNRESOLVED


def test_tripwires_alone_show_that_the_runner_ran(instance: Instance) -> None:
    assert grade(instance, evidence(exit_code=1, tripwires=RIGHT)).outcome is Outcome.UNRESOLVED
    assert grade(instance, evidence(exit_code=1, tripwires=tripwires(M, M))).outcome is Outcome.NOT_RUN


@pytest.mark.parametrize(
    ("name", "outcome"), [(FIXED, Outcome.TAMPERED), (KEPT, Outcome.TAMPERED), ("x", Outcome.RESOLVED)]
)
def test_expected_test_that_the_output_does_not_name_is_tampered(
    instance: Instance, name: str, outcome: Outcome
) -> None:
    report = TestReport(channel=Channel.REPORT, tests={FIXED: P, KEPT: P, "x": P}, unprinted=(name,))
    found = evidence(exit_code=1, tripwires=RIGHT).model_copy(update={"report": report})
    assert grade(instance, found).outcome is outcome


@pytest.mark.parametrize(
    ("language", "label", "reported"),
    [
        ("javascript", "adds (12 ms)", "adds (7 ms)"),
        ("javascript", "adds (12 ms)", "adds"),
        ("rust", "src/lib.rs - add (line 3)", "src/lib.rs - add (line 9)"),
        ("python", "t.py::test_a", "t.py::test_a"),
    ],
)
def test_varying_parts_of_names_are_ignored(
    make_instance: Callable[..., Instance], language: str, label: str, reported: str
) -> None:
    instance = make_instance(language=language, fail_to_pass=(label,), pass_to_pass=())
    for status, outcome in ((Status.PASSED, Outcome.RESOLVED), (Status.FAILED, Outcome.UNRESOLVED)):
        report = TestReport(channel=Channel.REPORT, tests={reported: status})
        evidence = Evidence(
            instance_id=instance.id,
            apply=Apply(status=ApplyStatus.APPLIED),
            exit_code=None,
            report=report,
        )
        verdict = grade(instance, evidence)
        assert verdict.outcome is outcome
        assert verdict.unfixed == (() if status is Status.PASSED else (label,))


@pytest.mark.parametrize(("name", "outcome"), [(FIXED, Outcome.TAMPERED), ("another", Outcome.RESOLVED)])
def test_report_better_than_the_output_is_tampered(instance: Instance, name: str, outcome: Outcome) -> None:
    tests = {FIXED: Status.PASSED, KEPT: Status.PASSED, "another": Status.FAILED}
    report = TestReport(channel=Channel.REPORT, tests=tests, disagreements=(name,))
    verdict = grade(instance, evidence(exit_code=1).model_copy(update={"report": report}))
    assert verdict.outcome is outcome
    assert "report_and_log_disagree" in verdict.flags


def test_correct_tripwires_do_not_outweigh_the_output(instance: Instance) -> None:
    report = TestReport(channel=Channel.REPORT, tests={FIXED: P, KEPT: P}, disagreements=(FIXED,))
    found = evidence(exit_code=1, tripwires=RIGHT).model_copy(update={"report": report})
    assert grade(instance, found).outcome is Outcome.TAMPERED


@pytest.mark.parametrize(
    ("changes", "doubt"),
    [
        ({}, ""),
        ({"exit_code": 0}, "exit status 0"),
        ({"exit_code": 137}, "killed from inside"),
        ({"exit_code": None}, ""),
        ({"tripwires": tripwires(P, P)}, "tripwire"),
        ({"tripwires": RIGHT}, ""),
        ({"tests": {}, "exit_code": 0}, ""),
        ({"disagreements": (KEPT,)}, "disagree"),
        ({"disagreements": (FIXED,)}, ""),
        ({"unprinted": (KEPT,)}, "disagree"),
    ],
)
def test_doubt_about_a_run_needs_no_expectation(instance: Instance, changes: dict[str, Any], doubt: str) -> None:
    more = {key: changes[key] for key in ("disagreements", "unprinted") if key in changes}
    report = TestReport(
        channel=Channel.REPORT, tests=changes.get("tests", {FIXED: Status.FAILED, KEPT: Status.PASSED}), **more
    )
    found = evidence(exit_code=changes.get("exit_code", 1), tripwires=changes.get("tripwires", {}))
    said = find_distrust(found.model_copy(update={"report": report}))
    assert doubt in said
    assert bool(doubt) is bool(said)


@pytest.mark.parametrize(
    ("tests", "exit_code", "outcome"), [({}, 0, Outcome.NOT_RUN), ({FIXED: P, KEPT: P}, None, Outcome.RESOLVED)]
)
def test_empty_patch_whose_tests_ran_is_judged_by_them(
    instance: Instance, tests: dict[str, Status], exit_code: int | None, outcome: Outcome
) -> None:
    assert grade(instance, evidence(tests, exit_code=exit_code, apply=ApplyStatus.EMPTY)).outcome is outcome


@pytest.mark.parametrize("rule", sorted({*Rule} - {Rule.SWE_BENCH_FAIL_ONLY}))
def test_suite_without_results_has_not_run_unless_silence_means_success(
    make_instance: Callable[..., Instance], rule: Rule
) -> None:
    ended = evidence().model_copy(update={"report": TestReport(channel=Channel.LOG, suite_ran=True)})
    assert grade(make_instance(rule=rule), ended).outcome is Outcome.NOT_RUN


def test_failing_test_of_a_log_behind_exit_status_0_is_no_contradiction(instance: Instance) -> None:
    found = evidence({FIXED: F, KEPT: P}, channel=Channel.LOG)
    assert grade(instance, found).outcome is Outcome.UNRESOLVED


@pytest.mark.parametrize("found", [tripwires(P, M), tripwires(M, F), tripwires(M, Status.SKIPPED)])
def test_any_tripwire_shows_that_the_runner_ran(instance: Instance, found: dict[str, Tripwire]) -> None:
    assert grade(instance, evidence(exit_code=1, tripwires=found)).outcome is Outcome.UNRESOLVED


def test_skipped_tripwire_has_not_passed(instance: Instance) -> None:
    found = evidence({FIXED: P, KEPT: P}, exit_code=1, tripwires=tripwires(Status.SKIPPED, F))
    assert grade(instance, found).outcome is Outcome.TAMPERED


@pytest.mark.parametrize(("exit_code", "outcome"), [(0, Outcome.RESOLVED), (1, Outcome.RESOLVED), (2, Outcome.NOT_RUN)])
def test_runner_of_an_unknown_language_ends_with_0_or_1(
    make_instance: Callable[..., Instance], exit_code: int, outcome: Outcome
) -> None:
    tests = {FIXED: P, KEPT: P} | ({"other": F} if exit_code else {})
    assert grade(make_instance(language="cobol"), evidence(tests, exit_code=exit_code)).outcome is outcome


def test_pass_to_pass_label_that_names_no_test_is_left_out(make_instance: Callable[..., Instance]) -> None:
    verdict = grade(make_instance(pass_to_pass=("[100%]",)), evidence({FIXED: P}))
    assert (verdict.outcome, verdict.flags) == (Outcome.RESOLVED, ("labels_without_a_test_left_out",))


@pytest.mark.parametrize(("exit_code", "flagged"), [(0, True), (1, True), (139, True), (137, False)])
def test_memory_kill_of_another_process_than_the_test_command_is_flagged(
    instance: Instance, exit_code: int, flagged: bool
) -> None:
    verdict = grade(instance, evidence({FIXED: F, KEPT: P}, exit_code=exit_code, oom_killed=True))
    assert ("child_out_of_memory" in verdict.flags) is flagged


def test_reason_counts_expected_and_other_tests_apart(make_instance: Callable[..., Instance]) -> None:
    kept = tuple(f"k{number}" for number in range(5))
    stages = Stages(run=dict.fromkeys((*kept, "o"), P), test={**dict.fromkeys((*kept, "o"), P), "f": F}, fix={})
    instance = make_instance(rule=Rule.MULTI_SWE_BENCH, stages=stages, fail_to_pass=("f",), pass_to_pass=kept)
    found = {"f": P, "o": F, "k0": P, "k1": P, **dict.fromkeys(kept[2:], F)}
    assert (
        grade(instance, evidence(found, exit_code=1)).reason
        == "0 of 1 unfixed, 3 of 5 broken, 1 others count against it"
    )


def test_reason_of_a_rule_that_expects_a_map_counts_every_difference(make_instance: Callable[..., Instance]) -> None:
    stages = Stages(fix={"test_a": P, "test_b": P, "test_c": F})
    instance = make_instance(rule=Rule.R2E, stages=stages, fail_to_pass=(), pass_to_pass=())
    verdict = grade(instance, evidence({"t.py::test_a": F, "t.py::test_b": F, "t.py::test_c": P}, exit_code=1))
    assert verdict.reason.startswith("3 results are not")


def test_stages_of_another_rule_are_no_expectation(make_instance: Callable[..., Instance]) -> None:
    instance = make_instance(rule=Rule.SWE_REBENCH, stages=Stages(fix={"a": P}), fail_to_pass=(), pass_to_pass=())
    verdict = grade(instance, evidence({"a": P}))
    assert (verdict.outcome, "names no fail-to-pass test" in verdict.reason) == (Outcome.UNRESOLVED, True)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"user": "root"}, "as root"), ({"report": None}, "log")],
)
@pytest.mark.parametrize("passes", [True, False])
def test_strict_run_takes_neither_logs_nor_tests_of_root(
    instance: Instance, changes: dict[str, Any], reason: str, passes: bool
) -> None:
    tests = dict.fromkeys((*instance.fail_to_pass, *instance.pass_to_pass), Status.PASSED if passes else Status.FAILED)
    found = evidence(tests, exit_code=int(not passes))
    if "report" in changes:
        changes = {"report": found.report.model_copy(update={"channel": Channel.LOG})}
    doubtful = found.model_copy(update=changes)
    assert grade(instance, doubtful).outcome is (Outcome.RESOLVED if passes else Outcome.UNRESOLVED)
    verdict = grade(instance, doubtful.model_copy(update={"strict": True}))
    assert verdict.outcome is Outcome.NOT_RUN
    assert reason in verdict.reason
    assert grade(instance, found.model_copy(update={"strict": True})).resolved == passes
