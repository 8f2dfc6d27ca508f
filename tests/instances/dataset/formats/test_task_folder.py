import hashlib
import json
from pathlib import Path

import pytest

from assay.harness.domain import PublishedImage, Recipe
from assay.harness.errors import DataError
from assay.instances.dataset.load import load
from rowfiles import only, task


def test_a_native_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "assay.yaml").write_text("name: mine\nrecipe: {toolchain: '3.9', test_files: all}\n")
    task(
        tmp_path, "o__r-1",
        task__yaml=f"repo: o/r\nbase_commit: {'a' * 40}\ncreated_at: 2020-01-02 03:04:05\n"
        "recipe: {packages: [nose]}\n",
        problem__md="It breaks.\n", gold__patch="gold\r\n", test__patch="tests",
        tests__json='{"fail_to_pass": ["a"], "pass_to_pass": []}',
    )  # fmt: skip
    instance = only(str(tmp_path))
    assert (instance.id, instance.dataset.name, instance.gold_patch) == ("o__r-1", "mine", "gold\r\n")
    assert instance.environment == Recipe(repo="o/r", toolchain="3.9", test_files="all", packages=("nose",))
    assert instance.created_at.isoformat() == "2020-01-02T03:04:05+00:00"


def test_the_shared_recipe_applies_to_tasks_of_its_language(tmp_path: Path) -> None:
    (tmp_path / "assay.yaml").write_text("name: mine\nrecipe: {language: go, toolchain: '1.19'}\n")
    common = f"repo: o/r\nbase_commit: {'a' * 40}\ncreated_at: 2020-01-02\nproblem_statement: It breaks.\n"
    common += "gold_patch: gold\ntest_patch: tests\nfail_to_pass: [a]\npass_to_pass: []\n"
    task(tmp_path, "o__r-1", task__yaml=common + "language: go\n")
    task(tmp_path, "o__r-2", task__yaml=common + "language: rust\n")
    task(tmp_path, "o__r-3", task__yaml=common + "language: rust\nrecipe: {toolchain: '1.63'}\n")
    environments = [instance.environment for instance in load(str(tmp_path)).instances]
    assert environments == [
        Recipe(repo="o/r", language="go", toolchain="1.19"),
        None,
        Recipe(repo="o/r", language="rust", toolchain="1.63"),
    ]


def test_a_wrong_native_task_names_its_file(tmp_path: Path) -> None:
    (tmp_path / "assay.yaml").write_text("name: mine\n")
    task(tmp_path, "o__r-1", task__yaml="a: [")
    task(tmp_path, "o__r-2", task__yaml="repo: o/r\ninstance_id: o__r-3\n")
    task(tmp_path, "o__r-4", task__yaml="repo: o/r\ncreated_at: 2020-01-01\n", tests__json="{")
    task(tmp_path, "o__r-5", task__yaml="repo: o/r\ncreated_at: 2020-01-01\nrecipe: {pyton: 3}\n",
         tests__json='{"fail_to_pass": [], "pass_to_pass": []}')  # fmt: skip
    problems = [str(problem) for problem in load(str(tmp_path), skip_bad_rows=True).problems]
    for problem, part in zip(problems, ["task.yaml:1", "o__r-3", "tests.json:1", "pyton"], strict=True):
        assert part in problem


TASK = {
    "repo": "o/r", "version": "1", "base_commit": "b" * 40, "split": "test", "image": "i",
    "log_parser": "parse_log_karma", "eval_type": "fail_only",
}  # fmt: skip


def sweb_task(folder: Path, name: str, **changes: object) -> Path:
    (folder / "sweb.yaml").write_text("datasets: [x]\nsplits: [test]\n")
    task(
        folder, name, task__yaml=json.dumps(TASK | changes), problem_statement__md="It breaks.", gold__patch="gold",
        test__patch="tests", eval__sh="run", tests__json='{"FAIL_TO_PASS": ["a"], "PASS_TO_PASS": ["b"]}',
    )  # fmt: skip
    return folder / "tasks" / name


def test_a_task_repository_of_swebench_is_read(tmp_path: Path) -> None:
    sweb_task(tmp_path, "o__r-1", log_parser="parse_log_sympy", eval_type="pass_and_fail", created_at="2020-01-02")
    instance = load(str(tmp_path), published_images=True, split="test").instances[0]
    assert instance.environment == PublishedImage(image="i", eval_script="run")
    assert (instance.log_format, instance.gold_patch, instance.pass_to_pass) == ("sympy_text", "gold", ("b",))
    assert instance.created_at.day == 2
    assert load(str(tmp_path), split="deprecated").instances == ()


def test_a_deprecated_task_is_not_loaded(tmp_path: Path) -> None:
    sweb_task(tmp_path, "o__r-1")
    sweb_task(tmp_path, "o__r-2", split="deprecated")
    assert [each.id for each in load(str(tmp_path)).instances] == ["o__r-1"]
    assert load(str(tmp_path), split="deprecated").instances == ()


@pytest.mark.parametrize("field", TASK)
def test_a_task_of_swebench_without_a_required_column_is_refused(tmp_path: Path, field: str) -> None:
    sweb_task(tmp_path, "o__r-1", **{field: None})
    with pytest.raises(DataError, match="is missing; every task of this layout needs it") as caught:
        load(str(tmp_path))
    assert (caught.value.file, caught.value.instance, caught.value.field) == (
        str(tmp_path / "tasks/o__r-1/task.yaml"), "o__r-1", field,
    )  # fmt: skip


def test_binary_files_beside_a_task_replace_their_urls(tmp_path: Path) -> None:
    entries = [{"path": f"test/{name}.png", "url": f"https://images.example/{name}.png"} for name in "ab"]
    folder = sweb_task(tmp_path, "o__r-1", image_assets={"problem_statement": [], "patch": [], "test_patch": entries})
    (folder / "test_assets/test").mkdir(parents=True)
    (folder / "test_assets/test/b.png").write_bytes(b"png")
    away, here = only(str(tmp_path)).assets
    assert (away.path, away.url, away.sha256) == ("test/a.png", "https://images.example/a.png", None)
    assert (here.path, here.url) == ("test/b.png", (folder / "test_assets/test/b.png").as_uri())
    assert here.sha256 == hashlib.sha256(b"png").hexdigest()


@pytest.mark.parametrize(
    ("top", "line", "message"),
    [
        ("recipe: 3.11", "", "assay.yaml: field recipe: is 3.11; write a mapping of fields to values"),
        ("", "recipe: 3.11", "o__r-1: field recipe: is 3.11; write a mapping of fields to values"),
        (
            "recipe: {toolchain: x}",
            "recipe: 3.11",
            "o__r-1: field recipe: is 3.11; write a mapping of fields to values",
        ),
        ("", "recipe: {1: 2}", "o__r-1: field recipe: is an object; write a mapping of fields to values"),
        ("", "split: [dev]", "tasks/o__r-1/task.yaml: o__r-1: field split: is ['dev']; write the split's name"),
        (
            *("recipe: {toolchain: x}", "environment: {image: i, eval_script: s}"),
            "o__r-1: field environment: is there beside recipe; keep one of them",
        ),
    ],
)
def test_a_wrong_setting_of_a_native_folder_is_one_line(tmp_path: Path, top: str, line: str, message: str) -> None:
    (tmp_path / "assay.yaml").write_text(f"name: mine\n{top}\n")
    task(
        tmp_path, "o__r-1", task__yaml=f"repo: o/r\nbase_commit: {'b' * 40}\ncreated_at: null\n{line}\n",
        problem__md="It breaks.", gold__patch="gold", test__patch="tests",
        tests__json='{"fail_to_pass": ["a"], "pass_to_pass": []}',
    )  # fmt: skip
    with pytest.raises(DataError) as caught:
        load(str(tmp_path))
    assert str(caught.value).endswith(message)
    assert str(caught.value).startswith(str(tmp_path))
