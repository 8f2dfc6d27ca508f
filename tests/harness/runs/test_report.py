from assay.cli.console import sum_line
from assay.harness.domain import CounterForm, CounterRun, Environment, NoCounter, Outcome, Status, Verdict
from assay.harness.runs.report import RunReport, build_report


def verdicts(*outcomes: Outcome) -> list[Verdict]:
    return [Verdict(instance_id=f"acme__calc-{number}", outcome=each) for number, each in enumerate(outcomes)]


def test_without_controls_there_is_one_rate() -> None:
    report = build_report(verdicts(Outcome.RESOLVED, Outcome.UNRESOLVED, Outcome.TIMED_OUT), [])
    assert report.resolved_rate == round(1 / 3, 6)
    assert (report.operational_rate, report.operational_instances, report.unfit_reasons) == (None, None, None)
    assert sum_line(report) == "1 of 3 resolved, 1 timed_out, 1 unresolved"


def test_mixed_environments_are_named_with_their_numbers() -> None:
    one, two, three = verdicts(Outcome.RESOLVED, Outcome.RESOLVED, Outcome.UNRESOLVED)
    published, recipe = {"environment": Environment.PUBLISHED}, {"environment": Environment.RECIPE}
    same = build_report([one.model_copy(update=recipe), two.model_copy(update=recipe)], [])
    assert (same.environments, "environments" in sum_line(same)) == ({"recipe": 2}, False)
    both = build_report([one.model_copy(update=published), two.model_copy(update=recipe), three], [])
    assert sum_line(both) == "2 of 3 resolved, 1 unresolved; mixed environments: 1 published, 1 recipe"


def test_with_controls_both_denominators_are_told() -> None:
    found = verdicts(Outcome.RESOLVED, Outcome.RESOLVED, Outcome.UNRESOLVED, Outcome.UNRESOLVED)
    report = build_report(found, [], unfit={"acme__calc-3": "its gold patch is unresolved", "acme__calc-1": "null"})
    assert report.unfit_ids == ["acme__calc-1", "acme__calc-3"]
    assert (report.resolved_rate, report.operational_rate) == (0.5, 0.5)
    assert (report.operational_instances, report.operational_resolved_instances) == (2, 1)
    assert report.resolved_instances == 2
    assert sum_line(report) == "2 of 4 resolved, 2 unresolved; operational: 1 of 2 (2 unfit left out)"


def test_controls_without_a_finding_are_told_too() -> None:
    report = build_report(verdicts(Outcome.RESOLVED), [], unfit={})
    assert (report.unfit_ids, report.operational_rate) == ([], 1.0)
    assert sum_line(report).endswith("operational: 1 of 1 (0 unfit left out)")


def test_when_nothing_is_fit_there_is_no_division() -> None:
    report = build_report(verdicts(Outcome.RESOLVED), [], unfit={"acme__calc-0": "x"})
    assert (report.operational_instances, report.operational_rate) == (0, 0.0)


def test_flaky_instances_stay_unresolved() -> None:
    flaky = Verdict(instance_id="a", outcome=Outcome.UNRESOLVED, unfixed=("t",), flaky=("t",), flags=("flaky",))
    report = build_report([flaky], [])
    assert (report.flaky_ids, report.unresolved_ids, report.flags) == (["a"], ["a"], {"a": ("flaky",)})
    assert sum_line(report) == "0 of 1 resolved, 1 unresolved (1 flaky)"


def test_a_report_of_an_earlier_version_can_still_be_read() -> None:
    new = {"flaky_ids", "unfit_ids", "unfit_reasons", "resolved_rate"}
    old = build_report([], []).model_dump_json(exclude={*new, *(f for f in RunReport.model_fields if "operat" in f)})
    assert RunReport.model_validate_json(old).unfit_reasons is None


def test_counter_tests_of_what_is_resolved_are_counted() -> None:
    run = CounterRun(
        kind="pair",
        forms={"a": CounterForm.NEAR, "b": CounterForm.NONCE},
        runs=({"a": Status.FAILED, "b": Status.MISSING},),
        missing={"c": NoCounter.NO_ASSERTION},
    )
    one, two, three = verdicts(Outcome.RESOLVED, Outcome.RESOLVED, Outcome.TAMPERED)
    counted = {"counter": run.count()}
    report = build_report([one.model_copy(update=counted), two, three.model_copy(update=counted)], [])
    line = "counter-tests of 2 resolved: 1 by pair; 1 of 2 failed as they must"
    assert report.describe_counters() == line
    assert report.counter
    assert (report.counter.forms, report.counter.without) == ({"near": 1, "nonce": 1}, 1)
    assert line in sum_line(report)


def test_run_without_counter_tests_says_so_where_it_leaves() -> None:
    report = build_report(verdicts(Outcome.RESOLVED), [])
    assert report.describe_counters().startswith("no counter-tests were run for the 1 resolved")
    assert "counter-tests" not in sum_line(report)
