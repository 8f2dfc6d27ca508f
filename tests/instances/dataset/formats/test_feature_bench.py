"""FeatureBench: what its rows take out of a tree, and how its image is used."""

import json
import subprocess
from pathlib import Path

import pytest

from assay.harness import runners
from assay.harness.domain import PublishedImage, Rule
from assay.harness.errors import DataError, EnvironmentFailure
from assay.instances.dataset.formats import FORMATS
from assay.instances.dataset.swt_tasks import make_test_task
from assay.instances.dataset.to_harbor import task_files
from assay.instances.environments.image_specs import make_published_spec
from assay.instances.environments.plan import make_plan
from assay.instances.environments.recipes import find_recipe, has_recipe
from samples import WHOLE, read, rows, script
from tables import read_tables

TABLES = read_tables(__file__)

TOGETHER = "--rootdir=/testbed --continue-on-collection-errors"


def apply(folder: Path, patch: str, *options: str) -> None:
    subprocess.run(["git", "apply", *options], cwd=folder, input=patch.encode(), check=True)


def content(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.py")}


def put(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_the_base_tree_is_the_one_that_the_benchmark_makes(tmp_path: Path) -> None:
    row, instance = rows("feature-bench")[0], read("feature-bench")
    theirs, ours = put(tmp_path / "theirs", WHOLE), put(tmp_path / "ours", WHOLE)
    apply(theirs, row["patch"], "--whitespace=fix")
    (theirs / "tests/test_ops.py").unlink()
    assert instance.base is not None
    apply(ours, instance.base.patch)
    assert content(ours) == content(theirs) == {"calc/ops.py": "def add(a, b):\n    pass\n\nKEPT = 1\n"}


def test_gold_patch_and_test_patch_give_back_the_whole_tree(tmp_path: Path) -> None:
    instance, tree = read("feature-bench"), put(tmp_path, WHOLE)
    assert instance.base is not None
    for patch in (instance.base.patch, instance.gold_patch, instance.test_patch):
        apply(tree, patch)
    assert content(tree) == WHOLE


def test_what_the_patch_does_to_the_test_file_is_neither_in_the_base_tree_nor_in_gold() -> None:
    instance = read("feature-bench", 1)
    assert instance.base is not None
    assert instance.base.patch.count("diff --git") == 2
    assert "test_turn" not in instance.gold_patch
    assert instance.fail_to_pass == ("tests/test_turn.py",)
    assert "+from wheel import turn\n" in instance.test_patch


def test_what_the_patch_does_to_a_test_file_to_be_kept_is_given_back_by_the_test_patch(tmp_path: Path) -> None:
    kept = "tests/test_kept.py"
    more = f"diff --git a/{kept} b/{kept}\n--- a/{kept}\n+++ b/{kept}\n@@ -1,2 +1 @@\n-def test_sum(): ...\n KEPT = 1\n"
    whole = WHOLE | {kept: "def test_sum(): ...\nKEPT = 1\n"}
    instance, tree = read("feature-bench", patch=rows("feature-bench")[0]["patch"] + more), put(tmp_path, whole)
    assert instance.base is not None
    apply(tree, instance.base.patch)
    assert content(tree)[kept] == "KEPT = 1\n"
    apply(tree, instance.gold_patch)
    assert content(tree)[kept] == "KEPT = 1\n"
    apply(tree, instance.test_patch)
    assert content(tree) == whole
    assert make_plan(instance, find_recipe(instance)).restore == ("tests/test_ops.py", kept)


@pytest.mark.parametrize(
    ("number", "tests", "variables"),
    [
        (
            0,
            f"pytest -rA --tb=short --color=no {TOGETHER} --timeout=10"
            " tests/test_ops.py tests/test_kept.py tests/more/test_other.py",
            ["export MODE='slow and sure'", "export PATH=$HOME/bin:$PATH"],
        ),
        (1, f"uv run pytest -rA -p no:cacheprovider --color=no {TOGETHER} --timeout=10 tests/test_turn.py", []),
        (2, f"pytest -rA -p no:cacheprovider --color=no {TOGETHER} bell/test_ring.py bell/test_bell.py", []),
    ],
)
def test_the_settings_are_the_script(number: int, tests: str, variables: list[str]) -> None:
    found = script(read("feature-bench", number))
    assert (found.workdir, found.tests) == ("/testbed", tests)
    assert [line for line in found.prepare if line.startswith("export")] == variables
    assert runners.adapt_commands(found.commands) is not None


def test_pytest_runs_the_files_with_tripwires_and_a_report() -> None:
    instance = read("feature-bench")
    plan = make_plan(instance, find_recipe(instance))
    assert (plan.runner, plan.tripwires, plan.report_format, plan.test_id) == ("pytest", True, "junit_xml", "file_node")
    assert plan.restore == ("tests/test_ops.py",)
    assert plan.targets == (*instance.fail_to_pass, *instance.pass_to_pass)


def test_the_image_gets_the_patch_that_makes_the_base_tree() -> None:
    first, other = read("feature-bench"), read("feature-bench", patch=rows("feature-bench")[1]["patch"])
    assert isinstance(first.environment, PublishedImage)
    assert first.base is not None
    specs = [make_published_spec(each, first.environment, "sha256:1", "assay") for each in (first, other)]
    assert specs[0].files["build/base.patch"] == first.base.patch
    assert specs[0].name != specs[1].name
    plain = first.model_copy(update={"base": None, "base_commit": "a" * 40})
    assert "build/base.patch" not in make_published_spec(plain, first.environment, "sha256:1", "assay").files


@pytest.mark.parametrize("rule", [Rule.FEATURE_BENCH, Rule.HARBOR])
def test_without_its_image_an_instance_is_an_environment_failure_that_names_the_remedy(rule: Rule) -> None:
    bare = read("feature-bench").model_copy(update={"environment": None, "rule": rule})
    with pytest.raises(EnvironmentFailure, match=f"an instance of {rule} is .* alone: give --environment published"):
        find_recipe(bare)
    assert has_recipe(bare)  # nothing can be set up


def test_the_whole_tree_of_the_image_is_given_to_no_agent() -> None:
    for name in ("feature-bench", "multi-swe-bench"):
        with pytest.raises(DataError, match="field image: holds the fix"):
            task_files(read(name))
    assert task_files(read("feature-bench"), "own:1")


def test_tests_cannot_be_judged_where_only_the_image_has_the_tree() -> None:
    with pytest.raises(DataError, match="field rule: is feature-bench, whose instances are tested in their own images"):
        make_test_task(read("feature-bench"))


def test_a_row_without_settings_is_no_row_of_swe_bench() -> None:
    (row, *_) = rows("feature-bench")
    del row["repo_settings"]
    assert next(name for name, each in FORMATS.items() if each.matches(row)) == "feature-bench"


@pytest.mark.parametrize(("settings", "field"), TABLES["wrong_settings_are_named"])
def test_wrong_settings_are_named(settings: dict[str, object], field: str) -> None:
    with pytest.raises(DataError) as caught:
        read("feature-bench", repo_settings=json.dumps(settings))
    assert caught.value.field == field


@pytest.mark.parametrize("removed", ["tests/test_kept.py", "tests/test_ops.py"])
def test_a_test_patch_that_is_not_the_removal_of_the_label_is_refused(removed: str) -> None:
    patch = rows("feature-bench")[0]["test_patch"]
    changed = patch.replace("tests/test_ops.py", removed) if removed.endswith("kept.py") else patch * 2
    with pytest.raises(DataError, match="field test_patch: does not remove the one file of FAIL_TO_PASS"):
        read("feature-bench", test_patch=changed)


@pytest.mark.parametrize(
    ("run_args", "gpus"),
    [
        ({"cuda_visible_num": 4}, 4),
        ({"cuda_visible_num": 0, "cuda_visible_devices": "0,1"}, 0),
        ({"cuda_visible_devices": "2, 3"}, 2),
        ({"cuda_visible_devices": 0}, 1),
        ({"cuda_visible_devices": "-1"}, 0),
        ({"cuda_visible_devices": None}, 0),
        ({}, 0),
    ],
)
def test_a_row_that_asks_for_cards_loads_and_its_container_is_to_have_them(run_args: object, gpus: int) -> None:
    settings = rows("feature-bench")[1]["repo_settings"] | {"docker_specs": {"run_args": run_args}}
    instance = read("feature-bench", 1, repo_settings=settings)
    assert instance.gpus == gpus
    assert make_plan(instance, find_recipe(instance)).limits.gpus == gpus
    assert FORMATS["feature-bench"].from_instance(instance)["repo_settings"] == settings
