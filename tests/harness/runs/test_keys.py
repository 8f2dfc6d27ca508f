"""Which code counts for a saved verdict, by adding a comment to one module of each room."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from assay.harness.domain import Card, CounterSet, Instance, NoCounter, Prediction, Rule, TestPlan
from assay.harness.engines.cards import HostCard
from assay.harness.engines.fake import FakeEngine
from assay.harness.engines.faulty import FaultyEngine
from assay.harness.engines.host_cards import make_pool
from assay.harness.engines.warm import WarmEngine
from assay.harness.evaluation.evaluate import Task
from assay.harness.runs import keys
from assay.instances.environments.known_images import BESIDE, IMAGE_ROOMS, image_edition
from assay.jobs.workbench import Planner

Editions = tuple[tuple[str, ...], str]
TOP = Path(__file__).parents[3]
RUNNING = [
    *("harness/domain/environment.py", "harness/patches/gate.py", "harness/reports/junit_xml.py"),
    *("harness/languages/python.py", "harness/runners/pytest.py", "harness/evaluation/evaluate.py"),
    "harness/runners/placing/pytest.sh",
    "harness/runners/placing/options.tsv",
    *("harness/benchmarks/swt_bench/evaluate.py", "harness/benchmarks/fail_fast.py"),
    *("harness/engines/base.py", "harness/engines/tars.py", "harness/engines/warm.py"),
    *("harness/engines/docker.py", "harness/engines/docker_box.py", "harness/engines/kernel.py"),
    *(
        "instances/environments/image_builder.py",
        "instances/environments/plan.py",
        "instances/environments/pins/cutoff.py",
    ),
    *("instances/toolchains/bootstrap.py", "instances/trees/sources.py", "instances/trees/indexes/pypi.py"),
]
GRADING = [
    "harness/grading/grade.py",
    "harness/rulings/doubts.py",
    "harness/benchmarks/swe_bench/rule.py",
    "harness/statistics.py",
]
NEITHER = [
    *("harness/engines/doctor.py", "harness/engines/fake.py", "harness/engines/faulty.py"),
    *("harness/engines/apptainer.py", "harness/engines/apptainer_box.py"),
    *("harness/images/registry.py", "harness/images/shelf.py", "harness/images/oci/writing.py"),
    *("harness/benchmarks/__init__.py", "harness/benchmarks/swe_fficiency/evaluate.py"),
    "harness/domain/rule_names.py",
    *("harness/runs/store.py", "harness/patchdiff/run.py", "harness/metrics/comparison.py"),
    *("instances/setup/remedies.py", "instances/setup/keeper.py", "instances/leaks/audit.py"),
    *("instances/environments/drift.py", "instances/environments/images_lock.py", "instances/trees/mirroring.py"),
]


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("code")
    for floor in ("harness", "instances"):
        shutil.copytree(TOP / floor, root / floor, ignore=lambda _, names: {n for n in names if n.endswith("pyc")})
    return root


def editions(root: Path, engine: str = "docker", benchmark: str = "swt_bench") -> Editions:
    """Return what a verdict's key has of the code, and the edition of the grading."""
    harness = root / "harness"
    running = (
        keys.evaluation_edition.__wrapped__(harness),
        keys.benchmark_edition.__wrapped__(benchmark, harness),
        keys.module_edition.__wrapped__(harness / f"engines/{engine}.py", harness),
        image_edition.__wrapped__(root),
    )
    return running, keys.grading_edition.__wrapped__(harness)


def compare_editions(
    files: Sequence[str], root: Path, before: Editions | None = None, **choice: str
) -> tuple[bool, bool]:
    """Add comments; return whether verdicts have to be run again, and whether they have to be graded again."""
    running, grading = before or editions(root, **choice)
    texts = {root / file: (root / file).read_bytes() for file in files}
    for path, text in texts.items():
        path.write_bytes(text + b"# a comment\n")
    after = editions(root, **choice)
    for path, text in texts.items():
        path.write_bytes(text)
    return running != after[0], grading != after[1]


@pytest.fixture(scope="module")
def before(copied: Path) -> Editions:
    return editions(copied)


@pytest.mark.parametrize("file", RUNNING)
def test_code_that_decides_what_runs_counts(file: str, copied: Path, before: Editions) -> None:
    assert compare_editions([file], copied, before)[0]


@pytest.mark.parametrize(("files", "regrades"), [(GRADING, True), (NEITHER, False)])
def test_other_code_reruns_nothing(files: Sequence[str], regrades: bool, copied: Path, before: Editions) -> None:
    assert compare_editions(files, copied, before) == (False, regrades)


@pytest.mark.parametrize(
    ("engine", "file", "counts"),
    [
        ("apptainer", "apptainer_box", True),
        ("apptainer", "docker", False),
        ("apptainer", "docker_box", False),
        ("apptainer", "layers", False),
        ("fake", "fake", True),
        ("fake", "docker", False),
    ],
)
def test_of_the_engines_the_one_that_runs_counts(engine: str, file: str, counts: bool, copied: Path) -> None:
    assert compare_editions([f"harness/engines/{file}.py"], copied, engine=engine)[0] is counts


@pytest.mark.parametrize(
    ("imported", "expected"),
    [("rule.py", (False, True)), ("measures.py", (False, True)), ("spans.py", (True, True)), ("run.py", (True, False))],
)
def test_a_rule_counts_for_the_grading_alone(imported: str, expected: tuple[bool, bool], copied: Path) -> None:
    folder = copied / "harness/benchmarks/toy_bench"
    folder.mkdir(exist_ok=True)
    (folder / "rule.py").write_text("from assay.harness.benchmarks.toy_bench import spans\n")
    for name in ("measures.py", "spans.py", "run.py"):
        (folder / name).write_text("")
    assert compare_editions([f"harness/benchmarks/toy_bench/{imported}"], copied, benchmark="toy_bench") == expected
    shutil.rmtree(folder)


def test_every_name_of_a_module_that_counts_apart_is_one() -> None:
    assert all((TOP / "instances" / file).is_file() for file in BESIDE)
    assert all((TOP / "instances" / room).is_dir() for room in IMAGE_ROOMS)
    assert all((TOP / "harness/engines" / name).is_file() for name in keys.ENGINES)
    assert all((TOP / "harness" / room).exists() for room in (*keys.EVALUATION, *keys.JUDGING))


class OtherEngine(FakeEngine):
    """An engine of somebody else."""


def test_a_plan_has_the_code_of_its_engine_below_what_is_around_it(instance: Instance) -> None:
    fake = FakeEngine({})
    plan = Planner(fake).plan(instance)
    assert plan.engine == keys.engine_edition(fake) != ""
    assert keys.engine_edition(FaultyEngine(fake, 1)) == plan.engine
    warm = WarmEngine(fake, 1, 1)
    warm.end()
    assert keys.engine_edition(warm) == plan.engine
    assert Planner(OtherEngine({})).plan(instance).engine != plan.engine


def test_a_key_has_all_code_that_counts(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    task = Task(instance, Prediction(instance_id="a", model="m"), TestPlan(command="run"))
    other = replace(task, plan=task.plan.model_copy(update={"engine": "another"}))
    key = keys.content_key(task)
    assert keys.content_key(other) != key
    monkeypatch.setattr(keys, "benchmark_edition", lambda folder: f"another {folder}")
    changed = keys.content_key(task)
    monkeypatch.setattr(keys, "evaluation_edition", lambda: "another")
    assert len({key, changed, keys.content_key(task)}) == 3


def test_known_counter_tests_count_by_their_content(instance: Instance) -> None:
    task = Task(instance, Prediction(instance_id="a"), TestPlan(command="run"))
    known = CounterSet(instance_id="a", environment="", files={}, missing={"a": NoCounter.NO_TEST})
    with_known = replace(task, counters=known)
    other = replace(task, counters=known.model_copy(update={"missing": {}}))
    assert len({keys.content_key(each) for each in (task, with_known, other)}) == 3
    assert keys.counters_key(task) == keys.counters_key(with_known) != keys.content_key(task)


def test_sealed_evaluation_is_another_one_with_the_same_counter_tests(instance: Instance) -> None:
    task = Task(instance, Prediction(instance_id=instance.id), TestPlan(command="true"), counter="pair")
    sealed = replace(task, counter="sealed")
    assert keys.content_key(sealed) != keys.content_key(task)
    assert keys.counters_key(sealed) == keys.counters_key(task)


@pytest.mark.parametrize(
    ("rule", "fail_fast", "judges"),
    [
        ("swe-bench", False, False),
        ("swe-bench", True, True),
        ("swt-bench", False, True),
        ("swe-fficiency", False, True),
    ],
)
def test_an_evaluation_that_judges_to_know_what_else_to_run_depends_on_the_judging(
    instance: Instance, monkeypatch: pytest.MonkeyPatch, rule: str, fail_fast: bool, judges: bool
) -> None:
    own = instance.model_copy(update={"rule": Rule(rule)})
    task = Task(own, Prediction(instance_id="a"), TestPlan(command="run"), fail_fast=fail_fast)
    key = keys.content_key(task)
    monkeypatch.setattr(keys, "judging_edition", lambda folder: f"another {folder}")
    assert (keys.content_key(task) != key) == judges


@pytest.mark.parametrize(
    ("file", "counts"), [("rulings/doubts", True), ("benchmarks/swt_bench/rule", True), ("benchmarks/r2e/rule", False)]
)
def test_the_judging_of_a_benchmark_is_its_own_rule_and_what_all_share(file: str, counts: bool, copied: Path) -> None:
    before = keys.judging_edition.__wrapped__("swt_bench", copied / "harness")
    path = copied / f"harness/{file}.py"
    text = path.read_bytes()
    path.write_bytes(text + b"# a comment\n")
    changed = keys.judging_edition.__wrapped__("swt_bench", copied / "harness") != before
    path.write_bytes(text)
    assert changed is counts


def test_the_cards_of_a_run_count_for_no_verdict_and_those_that_tests_need_for_their_own(instance: Instance) -> None:
    def key(gpus: int, there: int) -> str:
        engine = FakeEngine({})
        engine.cards = make_pool(engine, None)
        engine.cards.cards = tuple(HostCard(Card(name=str(each))) for each in range(there))
        own = instance.model_copy(update={"gpus": gpus})
        return keys.content_key(Task(own, Prediction(instance_id=own.id), Planner(engine).plan(own)))

    assert key(0, 0) == key(0, 2)
    assert key(1, 1) == key(1, 2) != key(0, 2)
