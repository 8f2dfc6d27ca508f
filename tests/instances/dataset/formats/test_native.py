import json
import os
import re
from pathlib import Path

import pytest

from assay.harness.domain import Archive, Instance, Recipe
from assay.harness.errors import DataError, UserError
from assay.instances.dataset.formats import native, swebench, write
from assay.instances.dataset.load import load
from samples import DATASET, PLAIN, SAMPLES

PAGE = Path(__file__).parents[4] / "docs" / "datasets.md"
RELEASED = PLAIN.model_copy(
    update={
        "base_commit": "",
        "archive": Archive(name="toy", version="1", sha256="0" * 64),
        "environment": Recipe(repo="o/r", toolchain="3.9"),
    }
)


def test_only_native_rows_hold_an_archive_and_a_recipe() -> None:
    row = json.loads(json.dumps(write(native, RELEASED)))
    assert native.to_instance(row, DATASET) == RELEASED
    with pytest.raises(DataError, match="commit"):
        write(swebench, RELEASED)


def test_labels_are_written_sorted(tmp_path: Path) -> None:
    task = tmp_path / "tasks" / "o__r-1"
    task.mkdir(parents=True)
    (task / "task.yaml").write_text("repo: o/r\n")
    path = native.write_labels(tmp_path, "o__r-1", ["b", "a"], ["ü"])
    assert json.loads(path.read_text()) == {"fail_to_pass": ["a", "b"], "pass_to_pass": ["ü"]}
    assert sorted(each.name for each in task.iterdir()) == ["task.yaml", "tests.json"]
    with pytest.raises(DataError, match="no task"):
        native.write_labels(tmp_path, "o__r-2", [], [])


def test_example_of_the_documents_is_a_data_set(tmp_path: Path) -> None:
    files = re.findall(r"^`(mine/\S+)`:\n\n```\w+\n(.*?)^```$", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)
    for name, text in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert {name.rpartition("/")[2] for name, _ in files} == {
        "assay.yaml", "task.yaml", "problem.md", "gold.patch", "test.patch", "tests.json"
    }  # fmt: skip
    (instance,) = load(str(tmp_path / "mine")).instances
    assert (instance.id, instance.dataset.name) == ("acme__calc-1", "mine")
    assert instance.fail_to_pass == ("tests/test_add.py::test_add",)
    assert instance.gold_patch.endswith("+    return a + b\n")
    assert instance.environment is not None


def test_documents_name_every_field_of_a_task() -> None:
    table = PAGE.read_text().partition("### Fields")[2].partition("The folder's name")[0]
    named = set(re.findall(r"`([a-z_]+)`", table))
    elsewhere = {"id", "dataset", "problem_statement", "gold_patch", "test_patch"}
    of_other_rows = {"archive", "base", "quarantined", "lacking", "facts"}
    assert set(Instance.model_fields) - elsewhere - of_other_rows <= named


@pytest.mark.parametrize("rows", sorted(SAMPLES.glob("*.jsonl")), ids=lambda path: path.stem)
def test_any_instance_survives_the_folder(rows: Path, tmp_path: Path) -> None:
    loaded = load(str(rows), published_images=True)
    native.write_folder(tmp_path / "out", "copy", loaded.instances)
    again = load(str(tmp_path / "out"), published_images=True)
    assert again.ref.name == "copy"
    bare = [each.model_copy(update={"dataset": again.ref}) for each in loaded.instances]
    assert sorted(again.instances, key=lambda each: each.id) == sorted(bare, key=lambda each: each.id)


def test_text_is_kept_to_the_byte(tmp_path: Path) -> None:
    odd = PLAIN.model_copy(update={"gold_patch": "a\r\nb\x0c\n\u2028 ü", "problem_statement": "no newline at the end"})
    native.write_folder(tmp_path / "out", "copy", [odd])
    (again,) = load(str(tmp_path / "out")).instances
    assert (again.gold_patch, again.problem_statement) == (odd.gold_patch, odd.problem_statement)


def test_a_pipe_in_place_of_a_file_keeps_nobody_waiting(tmp_path: Path) -> None:
    (tmp_path / "assay.yaml").write_text("format: 1\n")
    (tmp_path / "tasks/a__b-1").mkdir(parents=True)
    os.mkfifo(tmp_path / "tasks/a__b-1/task.yaml")
    with pytest.raises(DataError, match=r"task\.yaml.* no regular file"):
        load(str(tmp_path))


def test_lone_surrogate_is_an_error_that_names_the_instance(tmp_path: Path) -> None:
    odd = PLAIN.model_copy(update={"problem_statement": "\ud800"})
    with pytest.raises(UserError, match=rf"{odd.id}: .*cannot be written as UTF-8"):
        native.write_folder(tmp_path / "out", "copy", [odd])


def test_folder_of_another_data_set_is_not_written_into(tmp_path: Path) -> None:
    native.open_folder(tmp_path / "out", "one")
    native.open_folder(tmp_path / "out", "one")
    with pytest.raises(UserError, match="holds the data set one; name a folder that does not exist yet"):
        native.open_folder(tmp_path / "out", "two")


def test_a_row_without_its_gold_patch_is_not_taken_for_another_dialect(tmp_path: Path) -> None:
    row = write(native, PLAIN)
    del row["gold_patch"]
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps(row) + "\n")
    (problem,) = load(str(rows), skip_bad_rows=True).problems
    assert str(problem) == f"{rows}:1: {PLAIN.id}: field gold_patch: is missing; add it"
