"""The contract of every language: a real project is built, tested and read in full, with its fix and without."""

from pathlib import Path

import pytest

from assay.harness.domain import (
    FAILING,
    Channel,
    Instance,
    Outcome,
    Prediction,
    PublishedImage,
    Status,
    TestPlan,
    Tripwire,
)
from assay.harness.engines.docker import DockerEngine
from assay.harness.evaluation.evaluate import Evaluation, Task, evaluate
from assay.harness.grading.grade import grade
from assay.harness.languages import LANGUAGES
from assay.instances.environments.plan import make_plan
from assay.instances.environments.recipes import find_recipe
from languages.hello import hellos
from lookalikes import END, START

HELLOS = dict(hellos())
MORE = {"cpp-catch2", "java-gradle", "java-modules", "javascript-karma", "kotlin-maven", "typescript-jest"}
"""Slow, and near to others of their language."""
SLOW = {"java-maven"}
"""Slow as well, and built and tested by another test."""
PROJECTS = [
    pytest.param(name, marks=[hello.toolchain, *[pytest.mark.exhaustive] * (name in MORE)])
    for name, hello in HELLOS.items()
]


def test_every_language_has_a_project() -> None:
    assert {hello.language for hello in HELLOS.values()} == set(LANGUAGES)


@pytest.mark.parametrize("name", HELLOS)
def test_projects_show_every_status(name: str) -> None:
    shown = set(HELLOS[name].tests.values())
    assert {Status.PASSED, Status.FAILED, Status.SKIPPED} <= shown
    assert Status.ERROR in shown or HELLOS[name].note, "say in the note why this runner reports no errors"


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.parametrize("name", PROJECTS)
def test_a_real_project_is_built_tested_and_told(name: str, tmp_path: Path, docker_engine: DockerEngine) -> None:
    from assay.instances.environments.image_builder import ImageBuilder
    from assay.instances.trees.sources import Sources

    hello = HELLOS[name]
    instance = hello.instance(name, hello.make_repository(tmp_path / "mirror"))
    untested = instance.model_copy(update={"test_patch": "", "fail_to_pass": (), "pass_to_pass": ()})
    sources = Sources([tmp_path / "mirror"])
    builder = ImageBuilder(docker_engine, sources)

    as_it_is = run(untested, builder, sources, docker_engine)
    assert as_it_is.evidence.report.tests == hello.tests, as_it_is.output.decode(errors="replace")[-3000:]
    assert as_it_is.evidence.report.channel is Channel.REPORT

    # Labels name tests of files that the test patch does not touch, too.
    unfixed = run(instance, builder, sources, docker_engine)
    fixed = run(instance, builder, sources, docker_engine, instance.gold_patch)
    assert grade(instance, unfixed.evidence).outcome in {Outcome.UNRESOLVED, Outcome.NOT_RUN}
    verdict = grade(instance, fixed.evidence)
    for evaluation in (unfixed, fixed):
        tripwires = evaluation.evidence.tripwires.values()
        assert bool(tripwires) == bool(plan_of(instance, sources).runner and not hello.no_tripwires)
        assert all(behaves(each) for each in tripwires)
    assert verdict.outcome is Outcome.RESOLVED, (verdict, fixed.output.decode(errors="replace")[-3000:])


OWN_COMMANDS = [(name, command) for name, hello in HELLOS.items() for command in hello.own_commands]


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.parametrize(
    ("name", "command"),
    [
        pytest.param(
            name,
            command,
            marks=[
                HELLOS[name].toolchain,
                *[pytest.mark.exhaustive] * (name in MORE | SLOW or command != HELLOS[name].own_commands[0]),
            ],
            id=f"{name}-{number}",
        )
        for number, (name, command) in enumerate(OWN_COMMANDS)
    ],
)
def test_a_rows_own_command_is_reported_with_tripwires(
    name: str, command: str, tmp_path: Path, docker_engine: DockerEngine
) -> None:
    from assay.instances.environments.image_builder import ImageBuilder
    from assay.instances.trees.sources import Sources

    hello = HELLOS[name]
    instance = hello.instance(name, hello.make_repository(tmp_path / "mirror"))
    image = ImageBuilder(docker_engine, Sources([tmp_path / "mirror"])).build_image(instance)
    script = f"cd /testbed\n{START}\n{command}\n{END}\n"
    published = instance.model_copy(update={"environment": PublishedImage(image=image, eval_script=script)})
    of_row = {"test_id": plan_of_all(instance).test_id, "log_format": plan_of_all(instance).log_format}

    for patch, outcomes in ((instance.gold_patch, {Outcome.RESOLVED}), ("", {Outcome.UNRESOLVED, Outcome.NOT_RUN})):
        plan = plan_of_all(published).model_copy(update=of_row)
        prediction = Prediction(instance_id=instance.id, model="hello", patch=patch)
        evaluation = evaluate(Task(published, prediction, plan, runs_empty=True), image, docker_engine)
        shown = evaluation.output.decode(errors="replace")[-3000:]
        verdict = grade(published, evaluation.evidence)
        assert verdict.outcome in outcomes, (verdict, shown)
        assert evaluation.evidence.report is not None
        assert evaluation.evidence.report.channel is Channel.REPORT
        assert evaluation.evidence.tripwires, shown
        assert all(behaves(each) for each in evaluation.evidence.tripwires.values()), shown


PYTEST = "exec /opt/venv/bin/pytest -rfEsxXp -p no:cacheprovider --junitxml={report} -k 'greets or names'"
CARGO = "ASSAY_REPORT={report} exec cargo test --offline --no-fail-fast --test names"
CHOICES = [("rust-cargo", CARGO, "ada", True), ("python-pytest", PYTEST, "tests/test_hello.py::test_names", False)]


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.parametrize(
    ("name", "command", "label", "has_tripwires"),
    [pytest.param(*case, id=case[0], marks=HELLOS[case[0]].toolchain) for case in CHOICES],
)
def test_gold_is_resolved_where_a_recipes_command_leaves_tests_out(
    name: str, command: str, label: str, has_tripwires: bool, tmp_path: Path, docker_engine: DockerEngine
) -> None:
    from assay.instances.environments.image_builder import ImageBuilder
    from assay.instances.trees.sources import Sources

    hello = HELLOS[name]
    # The second program of tests defines a test of the label's name, too.
    more = {"tests/others.rs": "#[test]\nfn ada() {}\n"} if hello.language == "rust" else {}
    recipe = {"runner": name.partition("-")[2], "test_command": command, "test_files": "all"}
    hello = hello.model_copy(update={"files": hello.files | more, "recipe": recipe})
    instance = hello.instance(name, hello.make_repository(tmp_path / "mirror"))
    instance = instance.model_copy(update={"fail_to_pass": (label,), "pass_to_pass": ()})
    sources = Sources([tmp_path / "mirror"])
    done = run(instance, ImageBuilder(docker_engine, sources), sources, docker_engine, instance.gold_patch)
    verdict = grade(instance, done.evidence)
    assert verdict.outcome is Outcome.RESOLVED, (verdict, done.output.decode(errors="replace")[-3000:])
    assert bool(done.evidence.tripwires) == has_tripwires == ("no_tripwires" not in verdict.flags)


def plan_of_all(instance: Instance) -> TestPlan:
    return make_plan(instance, find_recipe(instance))


def run(instance, builder, sources, engine: DockerEngine, patch: str = "") -> Evaluation:
    """Evaluate a patch, or none, with the tests that the labels name; without a test patch, with all tests."""
    prediction = Prediction(instance_id=instance.id, model="hello", patch=patch)
    task = Task(instance, prediction, plan_of(instance, sources), runs_empty=True)
    return evaluate(task, builder.build_image(instance), engine)


def plan_of(instance: Instance, sources) -> TestPlan:
    from assay.instances.environments.files_to_run import load_files_to_run

    recipe = find_recipe(instance)
    return make_plan(instance, recipe, load_files_to_run(instance, recipe, sources))


def behaves(tripwire: Tripwire) -> bool:
    """Return whether a tripwire failed if it must, whatever the runner calls that, and passed if it must."""
    shown = [status for status in (tripwire.reported, tripwire.printed) if status]
    return all(status in FAILING if tripwire.expected in FAILING else status is Status.PASSED for status in shown)
