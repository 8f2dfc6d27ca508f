"""Every clause of every rule, by itself and through a verdict."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.harness.benchmarks import BENCHMARKS, find_benchmark
from assay.harness.domain import Instance, Outcome, Rule, Stages, Status, Tripwire
from assay.harness.errors import DataError
from assay.harness.grading.grade import grade
from assay.harness.rulings.labels import Against, LabelRule
from judged import LETTERS, E, F, M, P, S, X, make_evidence
from toy import make_instance

Make = Callable[..., Instance]
Tests = Mapping[str, Status]

ROW = Stages(
    run={"kept": P, "once": P, "red": F},
    test={"kept": P, "fixed": F, "woken": S, "red": F, "other": P},
    fix={"kept": P, "fixed": P, "woken": P, "new": P, "red": F, "other": P},
)
"""Of a Multi-SWE-bench row: ``once`` does not run any more with the test patch, ``other`` is in no list of the row."""
GOOD = dict(ROW.fix)
TABLE, CUT_LABELS = (
    yaml.safe_load(Path(__file__).with_name(name).read_text()) for name in ("rules.yaml", "cut_labels.yaml")
)


@pytest.fixture
def make() -> Make:
    def with_rule(rule: Rule, **changes: object) -> Instance:
        stages = {Rule.MULTI_SWE_BENCH: ROW, Rule.R2E: Stages(fix={"test_a": P, "C.test_b[1]": F})}.get(rule)
        lists: dict[str, tuple[str, ...]] = {"fail_to_pass": ("fixed",), "pass_to_pass": ("kept",)}
        if rule is Rule.MULTI_SWE_BENCH:
            lists = {"fail_to_pass": ("fixed", "woken", "new"), "pass_to_pass": ("kept",)}
        if rule is Rule.R2E:
            lists = {"fail_to_pass": (), "pass_to_pass": ()}
        return make_instance(**{"rule": rule, "stages": stages, **lists, **changes})

    return with_rule


def count(rule: Rule) -> LabelRule:
    found = find_benchmark(rule).label_rule
    assert found is not None
    return found


def outcome(instance: Instance, tests: Tests, **changes: object) -> Outcome:
    return grade(instance, make_evidence(tests, **changes)).outcome


def test_every_rule_has_a_definition() -> None:
    assert {each.name for each in BENCHMARKS} == set(Rule)


@pytest.mark.parametrize("rule", [each.name for each in BENCHMARKS if each.staged])
def test_rule_over_earlier_runs_needs_stages(rule: Rule) -> None:
    with pytest.raises(DataError, match=f"the rule {rule} compares with earlier runs"):
        outcome(make_instance(rule=rule), {"a": P})


CUT = "t.py::test_x[a"
"""A label that its maker cut at the first blank: it stands for every test whose name begins so."""


@pytest.mark.parametrize(
    ("rule", "statuses", "resolved"), [(rule, *row) for rule, rows in CUT_LABELS.items() for row in rows.items()]
)
def test_cut_pass_to_pass_label_every_test_under_it_must_satisfy_the_rule(
    make: Make, rule: str, statuses: str, resolved: bool
) -> None:
    instance = make(Rule(rule), fail_to_pass=("fixed",), pass_to_pass=(CUT,))
    tests = {"fixed": P, **{f"{CUT} {number}]": LETTERS[letter] for number, letter in enumerate(statuses)}}
    assert (count(instance.rule)(instance, tests) == ((), ())) == resolved


DECLARED = "--- a/t.py\n+++ b/t.py\n@@ -0,0 +1,2 @@\n+@pytest.mark.xfail\n+def test_x(a): pass\n"


@pytest.mark.parametrize(
    ("test_patch", "statuses", "fixed"),
    [(DECLARED, (P, X), True), ("", (P, X), False), ("", (P, P), True), ("", (P, S), False), ("", (P, F), False)],
)
def test_cut_fail_to_pass_label_every_test_under_it_must_be_fixed(
    make: Make, test_patch: str, statuses: tuple[Status, ...], fixed: bool
) -> None:
    instance = make(Rule.SWE_BENCH, fail_to_pass=(CUT,), pass_to_pass=(), test_patch=test_patch)
    tests = {f"{CUT} {number}]": status for number, status in enumerate(statuses)}
    assert count(Rule.SWE_BENCH)(instance, tests) == (() if fixed else (CUT,), ())


def without(tests: Tests, name: str) -> dict[str, Status]:
    return {test: status for test, status in tests.items() if test != name}


@pytest.mark.parametrize("test_patch", ["", DECLARED.replace("test_x", "fixed")])
@pytest.mark.parametrize(
    ("rule", "case"), [(rule, case) for rules, cases in TABLE.items() for rule in rules.split() for case in cases]
)
def test_rule_counts_the_expected_tests_against_the_patch(
    make: Make, rule: str, case: dict[str, Any], test_patch: str
) -> None:
    instance = make(Rule(rule), test_patch=test_patch)
    start = GOOD if instance.rule is Rule.MULTI_SWE_BENCH else {}
    found = start | {test: LETTERS[letter] for test, letter in case["tests"].items()}
    tests = {test: status for test, status in found.items() if status is not M}
    against = tuple(case.get("unfixed", ())), tuple(case.get("broken", ()))
    assert count(instance.rule)(instance, tests) == against
    assert (outcome(instance, tests) is Outcome.RESOLVED) == (against == ((), ()))


def test_multi_swe_bench_reports_an_unlisted_test_that_fails_now(make: Make) -> None:
    verdict = grade(make(Rule.MULTI_SWE_BENCH), make_evidence(GOOD | {"other": F}))
    assert verdict.broken == ("other",)
    assert verdict.reason == "0 of 3 unfixed, 0 of 1 broken, 1 others count against it"


def test_multi_swe_bench_ignores_a_quarantined_test(make: Make) -> None:
    assert outcome(make(Rule.MULTI_SWE_BENCH, quarantined=("other",)), GOOD | {"other": F}) is Outcome.RESOLVED


@pytest.mark.parametrize(
    ("tests", "against"),
    [
        ({f"{CUT} y]": P, f"{CUT} z]": P}, ((), ())),
        ({f"{CUT} y]": P, f"{CUT} z]": S}, ((), (CUT,))),
        ({f"{CUT} y]": F}, ((), (CUT,))),
        ({}, ((), (CUT,))),
        ({f"{CUT} y]": P, "t.py::test_x[b y]": P}, ((), ("t.py::test_x[b y]",))),
    ],
)
def test_swe_rebench_expects_what_a_cut_label_stands_for(make: Make, tests: Tests, against: Against) -> None:
    instance = make(Rule.SWE_REBENCH, pass_to_pass=(CUT,))
    assert count(Rule.SWE_REBENCH)(instance, {"fixed": P, **tests}) == against


def test_swe_rebench_tells_tests_apart_that_differ_by_a_duration_in_words(make: Make) -> None:
    instance = make(Rule.SWE_REBENCH, fail_to_pass=("waits 5 s",), pass_to_pass=("waits 10 s",))
    assert count(Rule.SWE_REBENCH)(instance, {"waits 5 s": P}) == ((), ("waits 10 s",))
    assert count(Rule.SWE_REBENCH)(instance, {"waits 5 s": P, "waits 10 s": P}) == ((), ())


def test_tripwires_are_not_extra_tests(make: Make) -> None:
    tripwires = {"good": Tripwire(expected=P, reported=P), "bad": Tripwire(expected=F, reported=F)}
    found = make_evidence({"fixed": P, "kept": P}, exit_code=1, tripwires=tripwires)
    assert grade(make(Rule.SWE_REBENCH), found).resolved


@pytest.mark.parametrize("rule", Rule)
def test_no_rule_resolves_without_results(make: Make, rule: Rule) -> None:
    assert outcome(make(rule), {}) is Outcome.NOT_RUN


WITHOUT_FIXED = {Rule.R2E, Rule.SWE_FFICIENCY, Rule.SWE_PERF, Rule.GSO, Rule.SWE_BENCH}


@pytest.mark.parametrize("rule", [rule for rule in Rule if rule not in WITHOUT_FIXED])
def test_no_rule_resolves_without_a_fail_to_pass_test(make: Make, rule: Rule) -> None:
    tests = GOOD if rule is Rule.MULTI_SWE_BENCH else {"kept": P}
    assert outcome(make(rule, fail_to_pass=()), tests) is Outcome.UNRESOLVED


def test_row_of_tests_to_keep_alone_is_resolved_with_a_flag(make: Make) -> None:
    row = make(Rule.SWE_BENCH, fail_to_pass=())
    kept = grade(row, make_evidence({"kept": P}))
    assert (kept.outcome, kept.flags) == (Outcome.RESOLVED, ("no_fail_to_pass",))
    assert grade(row, make_evidence({"kept": P}, strict=True)).outcome is Outcome.NOT_RUN
    assert outcome(row, {"kept": F}) is outcome(row, {"other": P}) is Outcome.UNRESOLVED
    for names in ((), ("[100%]",)):
        assert outcome(make(Rule.SWE_BENCH, fail_to_pass=(), pass_to_pass=names), {"kept": P}) is Outcome.UNRESOLVED


def test_r2e_without_expectations_resolves_nothing(make: Make) -> None:
    assert outcome(make(Rule.R2E, stages=Stages()), {"a.py::test_x": S}) is Outcome.UNRESOLVED


@pytest.mark.parametrize(
    ("tests", "exit_code", "suite_ran", "found"),
    [
        ({}, 0, True, Outcome.RESOLVED),
        ({}, 0, False, Outcome.NOT_RUN),
        ({}, 1, True, Outcome.NOT_RUN),
        ({"other": F}, 1, True, Outcome.RESOLVED),
        ({"other": F}, 1, False, Outcome.NOT_RUN),
        ({"other": P}, 0, False, Outcome.RESOLVED),
        ({"kept": F}, 1, True, Outcome.UNRESOLVED),
        ({"fixed": E}, 1, False, Outcome.UNRESOLVED),
    ],
)
def test_fail_only_requires_a_sign_that_the_suite_ran(
    make: Make, tests: Tests, exit_code: int, suite_ran: bool, found: Outcome
) -> None:
    instance = make(Rule.SWE_BENCH_FAIL_ONLY)
    assert outcome(instance, tests, exit_code=exit_code, suite_ran=suite_ran) is found


def test_silence_is_success_under_fail_only_alone(make: Make) -> None:
    assert outcome(make(Rule.SWE_POLYBENCH), {}, suite_ran=True) is Outcome.NOT_RUN


@pytest.mark.parametrize("rule", [Rule.SWE_BENCH_PRO, Rule.NOCODE_BENCH, Rule.HARBOR])
@pytest.mark.parametrize("status", [F, E, S, X, None])
@pytest.mark.parametrize("name", ["fixed", "kept"])
def test_all_passed_every_expected_test_must_have_passed_and_no_other(
    make: Make, rule: Rule, status: Status | None, name: str
) -> None:
    good = {"fixed": P, "kept": P, "other": F}
    assert count(rule)(make(rule), good) == ((), ())
    tests = without(good, name) if status is None else good | {name: status}
    assert count(rule)(make(rule), tests) == ((("fixed",), ()) if name == "fixed" else ((), ("kept",)))
