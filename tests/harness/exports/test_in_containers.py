"""A real evaluation of a project that was written for the tests, exported in every format and checked."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay.harness.domain import DatasetRef, Prediction, Rule
from assay.harness.evaluation.evaluate import Evaluation, Task, evaluate
from assay.harness.exports import FORMATS, polybench, swebench, swebench_live
from assay.harness.exports.base import RunToExport
from assay.harness.exports.swebench_check import SIZES
from assay.harness.grading.grade import grade
from assay.harness.runs.store import Run, RunStore
from assay.instances.environments.plan import make_plan
from assay.instances.environments.recipes import find_recipe
from languages.hello import hellos
from other_tools import run_with
from submitted import ABOUT, SYSTEM, complaints, exported, split_of

if TYPE_CHECKING:
    from assay.harness.engines.docker import DockerEngine

HELLO = dict(hellos())["python-pytest"]
READER = Path(__file__).with_name("read_with_swebench.py")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, docker_engine: "DockerEngine") -> RunToExport:
    """Evaluate a model's patch, which is not the gold patch to the letter, and an empty one."""
    from assay.instances.environments.files_to_run import load_files_to_run
    from assay.instances.environments.image_builder import ImageBuilder
    from assay.instances.trees.sources import Sources

    folder = tmp_path_factory.mktemp("hello")
    instance = HELLO.instance("python-pytest", HELLO.make_repository(folder / "mirror"))
    sources = Sources([folder / "mirror"])
    image, recipe = ImageBuilder(docker_engine, sources).build_image(instance), find_recipe(instance)
    good = Prediction(instance_id="hello__1", model="toy/m-1", patch=instance.gold_patch.replace("@@\n", "@@ def\n", 1))
    bad = Prediction(instance_id="hello__2", model="toy/m-1", patch=good.patch.replace("{name}", "{name} "))
    store = RunStore(folder / "runs" / "mine")
    about: Any = {"id": "mine", "model": "toy/m-1", "started": "2026-11-23T00:00:00+00:00", "assay_version": "1"}
    names = [good.instance_id, bad.instance_id]
    store.save_run(Run(dataset=DatasetRef(name="hello"), instance_ids=names, **about), [good, bad])
    verdicts = []
    for prediction in (good, bad):
        own = instance.model_copy(update={"id": prediction.instance_id})
        task = Task(own, prediction, make_plan(own, recipe, load_files_to_run(own, recipe, sources)))
        evaluation = evaluate(task, image, docker_engine)
        verdicts.append(grade(own, evaluation.evidence))
        store.save(task, evaluation, verdicts[-1], "key")
    store.save_report(store.summarise(verdicts, unfit={}), verdicts)
    thoughts = folder / "thoughts.md"
    thoughts.write_text("# How\n")
    return RunToExport(store, ABOUT, dict.fromkeys(names, thoughts))


def under(rule: Rule, run: RunToExport, folder: Path) -> RunToExport:
    """Return the same run, graded by another benchmark's rule."""
    store = RunStore(folder / "runs" / rule)
    store.save_run(run.manifest, run.predictions)
    verdicts = []
    for each in run.evaluations():
        instance = each.instance.model_copy(update={"rule": rule})
        verdicts.append(grade(instance, each.evidence))
        patch = run.patch(instance.id).decode()
        prediction = Prediction(instance_id=instance.id, patch=patch)
        task = Task(instance, prediction, make_plan(instance, find_recipe(instance)))
        store.save(task, Evaluation(each.evidence, patch, run.output(instance.id)), verdicts[-1], "key")
    store.save_report(store.summarise(verdicts, unfit={}), verdicts)
    return RunToExport(store, run.metadata.model_copy(update={"split": "PB500"}), run.trajectories)


@pytest.mark.docker
@pytest.mark.network
def test_a_real_run_passes_the_check_of_swebench_and_its_own_grading(run: RunToExport, tmp_path: Path) -> None:
    exported(swebench, run, tmp_path / "out")
    with split_of(SIZES, "verified", 2):
        assert complaints(swebench, tmp_path / "out") == []
    home = tmp_path / f"out/evaluation/verified/{SYSTEM}"
    printed = run_with(["swebench==5.0.2"], "python", str(READER), str(home))
    assert run.report.resolved_ids == ["hello__1"]
    assert json.loads(printed) == {
        "reports_differ": [],
        "graded": ["hello__1", "hello__2"],
        "resolved_ids": ["hello__1"],
    }


@pytest.mark.docker
@pytest.mark.network
def test_a_real_run_passes_every_other_check(run: RunToExport, tmp_path: Path) -> None:
    for name in ("sb-cli", "huggingface", "harbor", "junit", "csv", "markdown"):
        exported(FORMATS[name], run, tmp_path / name)
        assert complaints(FORMATS[name], tmp_path / name) == []
    exported(polybench, under(Rule.SWE_POLYBENCH, run, tmp_path), tmp_path / "pb")
    with split_of(polybench.SIZES, "PB500", 2):
        assert complaints(polybench, tmp_path / "pb") == []
    exported(swebench_live, under(Rule.SWE_BENCH_LIVE, run, tmp_path), tmp_path / "live")
    assert complaints(swebench_live, tmp_path / "live") == []
