from typing import Any

import pytest

from assay.harness.domain import FUZZED, Apply, ApplyStatus, Channel, Instance, Outcome, Rule, Stages, Status, Tripwire
from assay.harness.grading.grade import grade
from assay.harness.rulings.doubts import find_distrust
from judged import LETTERS, E, F, M, P, S, X, make_evidence
from tables import read_tables
from toy import FIXED, KEPT, make_instance

GOOD = {FIXED: P, KEPT: P}
CASES = read_tables(__file__)


def test_all_expected_tests_passed_is_resolved(instance: Instance) -> None:
    verdict = grade(instance, make_evidence(GOOD))
    assert verdict.resolved
    assert (verdict.unfixed, verdict.broken) == ((), ())


@pytest.mark.parametrize(
    ("fixed", "kept", "resolved"),
    [
        (P, S, True),
        (P, X, True),
        (X, P, False),
        (S, P, False),
        (F, P, False),
        (P, E, False),
        (P, M, False),
        (M, P, False),
    ],
)
def test_swe_bench_rule(instance: Instance, fixed: Status, kept: Status, resolved: bool) -> None:
    tests = {test: status for test, status in ((FIXED, fixed), (KEPT, kept)) if status is not M}
    verdict = grade(instance, make_evidence(tests))
    assert verdict.resolved is resolved
    assert (verdict.unfixed == (FIXED,)) is (fixed is not P)


@pytest.mark.parametrize(
    ("lines", "resolved"),
    [
        (("@pytest.mark.xfail", "def {}():", "    pass"), True),
        (("@pytest.mark.parametrize(", '    "a", [pytest.param(1, marks=pytest.mark.xfail)]', ")", "def {}():"), True),
        (("def {}():", "    pytest.xfail('later')"), True),
        (("@unittest.expectedFailure", "async def {}():"), True),
        (("def test_other():", "    pytest.xfail('later')", "", "def {}():", "    pass"), False),
        (("@pytest.mark.xfail", "def test_other():", "    pass", "", "def {}():", "    pass"), False),
        (("XFAILING = 1", "def {}():", "    pass"), False),
    ],
)
def test_expected_failure_counts_for_the_test_that_the_test_patch_declares(
    lines: tuple[str, ...], resolved: bool
) -> None:
    xfailed = make_evidence({FIXED: X, KEPT: P})
    assert not grade(make_instance(), xfailed).resolved
    added = "".join(f"+{line.replace('{}', FIXED.rpartition('::')[2])}\n" for line in lines)
    patch = f"--- a/tests/test_x.py\n+++ b/tests/test_x.py\n@@ -0,0 +1,{len(lines)} @@\n{added}"
    assert grade(make_instance(test_patch=patch), xfailed).resolved is resolved


def test_skipped_pass_to_pass_test_is_flagged(instance: Instance) -> None:
    verdict = grade(instance, make_evidence({FIXED: P, KEPT: S}))
    assert verdict.flags == ("pass_to_pass_tests_skipped",)


def test_instance_without_a_fail_to_pass_label_that_names_a_test_is_never_resolved() -> None:
    assert grade(make_instance(fail_to_pass=("[100%]",)), make_evidence({KEPT: P})).outcome is Outcome.UNRESOLVED


@pytest.mark.parametrize("case", CASES["outcomes"], ids=str)
def test_outcome_comes_from_the_engine_not_from_tests(instance: Instance, case: dict[str, Any]) -> None:
    tests = {None: {}, "good": GOOD, "bad": GOOD | {FIXED: F}}[case.get("tests")]
    changes = {name: value for name, value in case.items() if name not in {"tests", "outcome"}}
    assert grade(instance, make_evidence(tests, **changes)).outcome == case["outcome"]


def test_unknown_exit_status_is_not_judged(instance: Instance) -> None:
    log = make_evidence(GOOD, exit_code=None, channel=Channel.LOG)
    verdict = grade(instance, log)
    assert verdict.resolved
    assert verdict.flags == ("read_from_log",)


@pytest.mark.parametrize(
    ("language", "exit_code", "outcome"),
    [
        ("rust", 101, Outcome.RESOLVED),
        ("rust", 1, Outcome.NOT_RUN),
        ("python", 101, Outcome.NOT_RUN),
        ("python", 2, Outcome.NOT_RUN),
        ("cobol", 1, Outcome.RESOLVED),
        ("cobol", 2, Outcome.NOT_RUN),
        ("cobol", 0, Outcome.RESOLVED),
    ],
)
def test_finished_exit_statuses_are_those_of_the_language(language: str, exit_code: int, outcome: Outcome) -> None:
    tests = GOOD | ({"other": F} if exit_code else {})
    assert grade(make_instance(language=language), make_evidence(tests, exit_code=exit_code)).outcome is outcome


def tripwires(passing: Status, failing: Status, printed: Status | None = None) -> dict[str, Tripwire]:
    """A tripwire that must pass, and one that must fail, which the output may name as well."""
    return {
        "test_x": Tripwire(expected=P, reported=passing),
        "test_y": Tripwire(expected=F, reported=failing, printed=printed),
    }


RIGHT = tripwires(P, F)


@pytest.mark.parametrize("case", CASES["tripwires"], ids=str)
def test_resolved_needs_correct_tripwires_and_exit_status(instance: Instance, case: dict[str, Any]) -> None:
    found = tripwires(*(LETTERS[case[name]] for name in ("passing", "failing", "printed") if name in case))
    seen = make_evidence(GOOD, exit_code=case["exit_code"], tripwires=found)
    assert grade(instance, seen).outcome == case["outcome"]
    if case["outcome"] == "resolved":
        seen = make_evidence(GOOD | {FIXED: F}, tripwires=found)
        assert grade(instance, seen).outcome is Outcome.UNRESOLVED


@pytest.mark.parametrize("found", [RIGHT, tripwires(P, M), tripwires(M, F), tripwires(M, S)])
def test_any_tripwire_shows_that_the_runner_ran(instance: Instance, found: dict[str, Tripwire]) -> None:
    assert grade(instance, make_evidence(exit_code=1, tripwires=found)).outcome is Outcome.UNRESOLVED
    assert grade(instance, make_evidence(exit_code=1, tripwires=tripwires(M, M))).outcome is Outcome.NOT_RUN


@pytest.mark.parametrize(
    ("name", "outcome"), [(FIXED, Outcome.TAMPERED), (KEPT, Outcome.TAMPERED), ("x", Outcome.RESOLVED)]
)
def test_expected_test_that_the_output_does_not_name_is_tampered(
    instance: Instance, name: str, outcome: Outcome
) -> None:
    found = make_evidence(GOOD | {"x": P}, exit_code=1, tripwires=RIGHT, unprinted=(name,))
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
def test_varying_parts_of_names_are_ignored(language: str, label: str, reported: str) -> None:
    instance = make_instance(language=language, fail_to_pass=(label,), pass_to_pass=())
    for status, outcome in ((P, Outcome.RESOLVED), (F, Outcome.UNRESOLVED)):
        verdict = grade(instance, make_evidence({reported: status}, exit_code=None))
        assert verdict.outcome is outcome
        assert verdict.unfixed == (() if status is P else (label,))


@pytest.mark.parametrize(("name", "outcome"), [(FIXED, Outcome.TAMPERED), ("another", Outcome.RESOLVED)])
@pytest.mark.parametrize("found", [{}, RIGHT])
def test_report_better_than_the_output_is_tampered(
    instance: Instance, name: str, outcome: Outcome, found: dict[str, Tripwire]
) -> None:
    verdict = grade(instance, make_evidence(GOOD | {"another": F}, disagreements=(name,), tripwires=found))
    assert verdict.outcome is outcome
    assert "report_and_log_disagree" in verdict.flags


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
def test_doubt_about_a_run_needs_no_expectation(changes: dict[str, Any], doubt: str) -> None:
    said = find_distrust(make_evidence(**{"tests": {FIXED: F, KEPT: P}, **changes}))
    assert doubt in said
    assert bool(doubt) is bool(said)


@pytest.mark.parametrize(("tests", "exit_code", "outcome"), [({}, 0, Outcome.NOT_RUN), (GOOD, None, Outcome.RESOLVED)])
def test_empty_patch_whose_tests_ran_is_judged_by_them(
    instance: Instance, tests: dict[str, Status], exit_code: int | None, outcome: Outcome
) -> None:
    assert grade(instance, make_evidence(tests, exit_code=exit_code, apply=ApplyStatus.EMPTY)).outcome is outcome


@pytest.mark.parametrize("rule", sorted({*Rule} - {Rule.SWE_BENCH_FAIL_ONLY}))
def test_suite_without_results_has_not_run_unless_silence_means_success(rule: Rule) -> None:
    ended = make_evidence(channel=Channel.LOG, suite_ran=True)
    assert grade(make_instance(rule=rule), ended).outcome is Outcome.NOT_RUN


def test_pass_to_pass_label_that_names_no_test_is_left_out() -> None:
    verdict = grade(make_instance(pass_to_pass=("[100%]",)), make_evidence({FIXED: P}))
    assert (verdict.outcome, verdict.flags) == (Outcome.RESOLVED, ("labels_without_a_test_left_out",))


@pytest.mark.parametrize(("exit_code", "flagged"), [(0, True), (1, True), (139, True), (137, False)])
def test_memory_kill_of_another_process_than_the_test_command_is_flagged(
    instance: Instance, exit_code: int, flagged: bool
) -> None:
    tests = GOOD | ({FIXED: F} if exit_code else {})
    verdict = grade(instance, make_evidence(tests, exit_code=exit_code, oom_killed=True))
    assert ("child_out_of_memory" in verdict.flags) is flagged
    assert verdict.resolved is (exit_code == 0)


def test_reason_counts_expected_and_other_tests_apart() -> None:
    kept = tuple(f"k{number}" for number in range(5))
    stages = Stages(run=dict.fromkeys((*kept, "o"), P), test={**dict.fromkeys((*kept, "o"), P), "f": F}, fix={})
    instance = make_instance(rule=Rule.MULTI_SWE_BENCH, stages=stages, fail_to_pass=("f",), pass_to_pass=kept)
    found = {"f": P, "o": F, "k0": P, "k1": P, **dict.fromkeys(kept[2:], F)}
    assert grade(instance, make_evidence(found)).reason == "0 of 1 unfixed, 3 of 5 broken, 1 others count against it"


def test_reason_of_a_rule_that_expects_a_map_counts_every_difference() -> None:
    stages = Stages(fix={"test_a": P, "test_b": P, "test_c": F})
    instance = make_instance(rule=Rule.R2E, stages=stages, fail_to_pass=(), pass_to_pass=())
    verdict = grade(instance, make_evidence({"t.py::test_a": F, "t.py::test_b": F, "t.py::test_c": P}, exit_code=1))
    assert verdict.reason.startswith("3 results are not")


def test_stages_of_another_rule_are_no_expectation() -> None:
    instance = make_instance(rule=Rule.SWE_REBENCH, stages=Stages(fix={"a": P}), fail_to_pass=(), pass_to_pass=())
    verdict = grade(instance, make_evidence({"a": P}))
    assert (verdict.outcome, "names no fail-to-pass test" in verdict.reason) == (Outcome.UNRESOLVED, True)


@pytest.mark.parametrize(("changes", "reason"), [({"user": "root"}, "as root"), ({"channel": Channel.LOG}, "log")])
@pytest.mark.parametrize("status", [P, F])
def test_strict_run_takes_neither_logs_nor_tests_of_root(
    instance: Instance, changes: dict[str, Any], reason: str, status: Status
) -> None:
    tests = dict.fromkeys((*instance.fail_to_pass, *instance.pass_to_pass), status)
    expected = Outcome.RESOLVED if status is P else Outcome.UNRESOLVED
    assert grade(instance, make_evidence(tests, **changes)).outcome is expected
    assert grade(instance, make_evidence(tests, strict=True)).outcome is expected
    verdict = grade(instance, make_evidence(tests, strict=True, **changes))
    assert verdict.outcome is Outcome.NOT_RUN
    assert reason in verdict.reason


def test_strict_run_refuses_what_git_does_not_apply(instance: Instance) -> None:
    tests = dict.fromkeys((*instance.fail_to_pass, *instance.pass_to_pass), P)
    fuzzed = {"apply": Apply(status=ApplyStatus.APPLIED, normalized=(FUZZED,))}
    assert grade(instance, make_evidence(tests).model_copy(update=fuzzed)).resolved
    strict = make_evidence(tests, strict=True).model_copy(update=fuzzed)
    assert grade(instance, strict).outcome is Outcome.PATCH_CONFLICT


def test_strict_run_refuses_a_tree_that_lacks_files(instance: Instance) -> None:
    tests = dict.fromkeys((*instance.fail_to_pass, *instance.pass_to_pass), P)
    lacking = {"lacking": ("data/a.bin", "data/b.bin")}
    verdict = grade(instance, make_evidence(tests).model_copy(update=lacking))
    assert (verdict.outcome, verdict.flags) == (
        Outcome.RESOLVED,
        ("not_in_mirror:data/a.bin", "not_in_mirror:data/b.bin"),
    )
    strict = grade(instance, make_evidence(tests, strict=True).model_copy(update=lacking))
    assert (strict.outcome, "data/a.bin, data/b.bin" in strict.reason) == (Outcome.ENV_ERROR, True)
