"""The three stages of Multi-SWE-bench, measured: at the base commit, with the test patch, with the gold patch too."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from assay.harness.benchmarks import multi_swe_bench
from assay.harness.benchmarks.multi_swe_bench.rule import classify, explain_invalid, find_status
from assay.harness.domain import GRADED, Instance, Stages, Status
from assay.harness.grading.controls import Runs, validation
from assay.harness.grading.grade import grade
from assay.harness.grading.stability import measure
from assay.harness.rulings.normalise import normalise_results
from assay.jobs.evaluate import EvaluationRun
from assay.jobs.validate import UNLABELLED, UNSTAGED, Measured, explain_problem, measure_labels, read_names

BASE = "base"


def measure_stages(run: EvaluationRun, instances: Sequence[Instance], times: int) -> list[Measured]:
    """Measure labels, then the stages of labelled instances; these have the rule of Multi-SWE-bench from then on.

    The stage at the base commit runs all tests of the recipe's command, since a test file may not be there yet.
    """
    found = measure_labels(run, instances, times)
    sound = [each.instance for each in found if not each.problem]
    bare = [each.model_copy(update={**UNLABELLED, **UNSTAGED, "test_patch": ""}) for each in sound]
    for number in range(1, times + 1 if bare else 1):
        run.place.view.say(f"base commit, round {number} of {times}")
        _name_round(run, BASE, number).evaluate_control(bare, "null")
    return [each if each.problem else _add_stages(run, each, times) for each in found]


def _name_round(run: EvaluationRun, model: str, number: int) -> EvaluationRun:
    return replace(run, run_id=f"{run.run_id}-{model}-{number}")


def _add_stages(run: EvaluationRun, found: Measured, times: int) -> Measured:
    own = found.instance
    stores = {
        model: [_name_round(run, model, n).store for n in range(1, times + 1)] for model in (BASE, "null", "gold")
    }
    base, null, gold = ([store.load_evidence(own.id) for store in each] for each in stores.values())
    names = read_names(run, stores["gold"][0], own.model_copy(update=UNLABELLED))
    stages = join_stages(own, names, {"run": base, "test": null, "fix": gold})
    sets = classify(stages)
    labels = {"fail_to_pass": (*sets["f2p"], *sets["s2p"], *sets["n2p"]), "pass_to_pass": sets["p2p"]}
    staged = own.model_copy(update={**labels, "rule": multi_swe_bench.BENCHMARK.name, "stages": stages})
    problem = _explain_base(own, base) or explain_invalid(stages)
    stability = measure(staged, gold, null, assay_version=found.stability.assay_version, engine=found.stability.engine)
    result = validation(staged, gold, null, stability)
    problem = problem or explain_problem(staged, result, gold, null)
    result = result.model_copy(update={**labels, "label_differences": found.result.label_differences})
    kept = stability.model_copy(update={"quarantined": found.stability.quarantined})
    return Measured(staged, result, kept, problem)


def join_stages(instance: Instance, names: Collection[str], runs: Mapping[str, Runs]) -> Stages:
    """Join the runs of each stage; a test on which the runs of any stage do not agree is in none of them."""
    seen = {
        stage: [normalise_results(instance, each.report.tests) for each in evidence if each is not None]
        for stage, evidence in runs.items()
    }
    steady = [
        name
        for name in names
        if all(len({find_status(tests, name) for tests in results}) == 1 for results in seen.values())
    ]
    stages: dict[str, dict[str, Status]] = {stage: {} for stage in seen}
    for stage, results in seen.items():
        statuses = ((name, find_status(results[0], name)) for name in steady)
        stages[stage] = {name: status for name, status in statuses if status is not Status.MISSING}
    return Stages(**stages)


def _explain_base(instance: Instance, base: Runs) -> str:
    """Return why the runs at the base commit say nothing of its tests; empty if they do."""
    for each in base:
        if each is None:
            return "its base commit has no evidence"
        verdict = grade(instance, each)
        if verdict.outcome not in GRADED:
            return f"its base commit is {verdict.outcome}: {verdict.reason}"
    return ""
