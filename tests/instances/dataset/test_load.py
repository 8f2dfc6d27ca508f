import json
import time
import tracemalloc
from pathlib import Path

import pytest
import yaml

from assay.harness.domain import PublishedImage, Recipe, Rule
from assay.harness.errors import DataError, UserError
from assay.harness.languages import LANGUAGES
from assay.instances.dataset.formats import FORMATS, compact
from assay.instances.dataset.load import load
from assay.instances.dataset.rows import BUNDLED
from assay.instances.trees.sources import Sources
from rowfiles import lines, only, row, task
from toys import Index

TABLES = sorted(BUNDLED["releases"].glob("*.jsonl"))
LABELS = {instance: labels for table in TABLES for instance, labels in compact.read_labels(table).items()}
MINED = [json.loads(row) for table in TABLES for row in table.read_text().splitlines()]
NEWEST = {row.get("language", "python"): row["instance_id"] for row in MINED}


def test_published_images_are_kept_only_on_request(tmp_path: Path) -> None:
    path = lines(
        tmp_path, row(1, image="x/y:z", eval_script="run", log_parser="parse_log_django", eval_type="fail_only")
    )
    assert only(path).environment is None
    assert (only(path).log_format, only(path).rule) == ("unittest_text", Rule.SWE_BENCH_FAIL_ONLY)
    kept = load(path, published_images=True).instances[0]
    assert kept.environment == PublishedImage(image="x/y:z", eval_script="run")


def test_ids_match_in_any_case_and_keep_the_order_of_the_file(tmp_path: Path) -> None:
    path = lines(tmp_path, *(row(number) for number in range(1, 30)))
    chosen = load(path, ids=["OWNER__name-7", "owner__Name-3"])
    assert [each.id for each in chosen.instances] == ["owner__name-3", "owner__name-7"]


def test_an_unknown_id_is_refused_with_close_ones(tmp_path: Path) -> None:
    path = lines(tmp_path, row(1), row(2000))
    with pytest.raises(UserError, match="has no owner__name-2001; close: owner__name-2000") as caught:
        load(path, ids=["owner__name-2001", "owner__name-1"])
    assert not isinstance(caught.value, DataError)


def test_a_wrong_row_that_is_not_selected_is_ignored(tmp_path: Path) -> None:
    assert load(lines(tmp_path, row(1), row(2, patch=None)), ids=["owner__name-1"]).problems == ()


def test_many_wrong_rows_are_reported_together(tmp_path: Path) -> None:
    path = lines(tmp_path, row(0), *(row(number, repo=None) for number in range(1, 9)), row(10))
    with pytest.raises(UserError) as caught:
        load(path)
    shown = str(caught.value).splitlines()
    assert shown[0].startswith("rows: 8 wrong rows")
    assert [
        line.startswith(f"{path}:{number + 1}: owner__name-{number}: ") for number, line in enumerate(shown[1:6], 1)
    ]
    assert shown[6] == "... and 3 more"
    assert [each.id for each in load(path, skip_bad_rows=True).instances] == ["owner__name-0", "owner__name-10"]


@pytest.mark.parametrize("again", ["owner__name-1", "Owner__Name-1"])
def test_an_instance_that_is_there_twice_is_refused(tmp_path: Path, again: str) -> None:
    with pytest.raises(DataError, match=r"twice \(first: line 1") as caught:
        load(lines(tmp_path, row(1), row(2), row(1, instance_id=again)))
    assert (caught.value.line, caught.value.instance) == (3, again)


def test_rows_of_an_unknown_dialect_are_one_error(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"question": "1 + 1", "answer": n} for n in range(9)]
    with pytest.raises(UserError, match=r"question, answer.*swebench") as caught:
        load(lines(tmp_path, *rows))
    assert "\n" not in str(caught.value)
    rows += [{}, {"instance_id": "x"}]
    assert not [each for each in FORMATS.values() for unknown in rows if each.matches(unknown)]


def test_a_wrong_derivation_names_the_folder_of_its_task(tmp_path: Path) -> None:
    (tmp_path / "assay.yaml").write_text("name: mine\n")
    task(tmp_path, "o__r-1", task__yaml="repo: o/r\nderive: {index: maven, name: r}\n", problem__md="It breaks.\n")
    with pytest.raises(DataError, match=r"o__r-1: field derive\.index: .*'pypi', 'go', 'crates' or 'npm'") as caught:
        load(str(tmp_path))
    assert str(caught.value).startswith(str(tmp_path / "tasks" / "o__r-1"))
    assert "\n" not in str(caught.value)


def test_ids_made_of_columns_can_be_selected_and_are_unique(tmp_path: Path) -> None:
    sample = (Path(__file__).parents[2] / "data/formats/multi-swe-bench.jsonl").read_text().splitlines()
    bean = json.loads(sample[1])
    assert "instance_id" not in bean
    path = lines(tmp_path, bean)
    assert [each.id for each in load(path, ids=["ACME__beans-15"]).instances] == ["acme__Beans-15"]
    with pytest.raises(DataError, match=r"twice \(first: line 1"):
        load(lines(tmp_path, bean, bean | {"instance_id": "acme__beans-15"}))


def test_rows_of_several_dialects_in_one_file_are_all_read(tmp_path: Path) -> None:
    samples = (Path(__file__).parents[2] / "data/formats").glob("*.jsonl")
    rows = [json.loads(path.read_text().splitlines()[0]) | {"instance_id": path.stem} for path in samples]
    loaded = load(lines(tmp_path, *rows))
    without_dialect = {"swe-bench-fail-only", "swt-bench"}
    assert {str(each.rule) for each in loaded.instances} == {str(rule) for rule in Rule} - without_dialect


def test_a_row_of_an_unknown_language_or_parser_loads(tmp_path: Path) -> None:
    path = lines(tmp_path, row(1, language="Cobol"), row(2, log_parser="parse_log_unheard_of"))
    first, second = load(path).instances
    assert (first.language, second.log_format) == ("cobol", "parse_log_unheard_of")


def test_only_selected_tasks_are_derived(tmp_path: Path, index: Index, sources: Sources) -> None:
    old = index.add("toy", "1.0", {"a.py": "1\n", "CHANGES": "1.1\n---\nNew.\n"})
    new = index.add("toy", "1.1", {"a.py": "2\n", "CHANGES": "1.1\n---\nNew.\n"})
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "assay.yaml").write_text("name: mine\n")
    for name, digest in (("o__toy-1.1", new.sha256), ("o__toy-9", "0" * 64)):
        derive = (
            f"{{name: toy, from: {{version: '1.0', sha256: {old.sha256}}}, to: {{version: '1.1', sha256: {digest}}},"
            " statement: {file: CHANGES}}"
        )
        task(tmp_path / "set", name, task__yaml=f"repo: o/toy\ncreated_at: 2020-01-01\nderive: {derive}\n",
             tests__json='{"fail_to_pass": ["a"], "pass_to_pass": []}')  # fmt: skip
    loaded = load(str(tmp_path / "set"), ids=["o__toy-1.1"], sources=sources)
    (instance,) = loaded.instances
    assert (instance.archive, instance.base_commit) == (old, "")
    assert "+2\n" in instance.gold_patch
    assert instance.problem_statement == "1.1\n---\nNew.\n"


def test_the_bundled_data_set_holds_only_facts() -> None:
    tasks = sorted((BUNDLED["releases"] / "tasks").iterdir())
    assert len(tasks) >= 6
    for folder in tasks:
        names = {path.name for path in folder.iterdir()}
        assert names in ({"task.yaml", "tests.json"}, {"task.yaml", "tests.json", "problem.md"})
        labels = json.loads((folder / "tests.json").read_text())
        assert labels["fail_to_pass"]
        assert not set(labels["fail_to_pass"]) & set(labels["pass_to_pass"])
    for mined in MINED:
        assert set(mined) - {"language", "recipe"} == {
            "instance_id",
            "repo",
            "created_at",
            "version",
            "origin",
            "derive",
        }
        assert LABELS[mined["instance_id"]]["fail_to_pass"]


def test_the_bundled_data_set_is_wide() -> None:
    tasks = list((BUNDLED["releases"] / "tasks").glob("*/task.yaml"))
    packages = {yaml.safe_load(task.read_text())["derive"]["name"] for task in tasks}
    packages |= {mined["derive"]["name"] for mined in MINED}
    assert len(tasks) + len(MINED) >= 60
    assert len(packages) >= 25
    assert set(NEWEST) == {"python", "go", "rust", "javascript"}


@pytest.mark.network
def test_the_bundled_data_set_loads(sources: Sources) -> None:
    """Two tasks, one with a statement of its own, and of what was mined one instance a language."""
    loaded = load("releases", ids=["pallets__flask-2.3.2", "mholt__papaparse-5.4.1", *NEWEST.values()], sources=sources)
    assert len(loaded.instances) == 6
    assert loaded.ref.name == "releases"
    for instance in loaded.instances:
        assert instance.archive
        assert instance.gold_patch.startswith("diff --git ")
        touched = [line.partition(" b/")[2] for line in instance.test_patch.splitlines() if line.startswith("diff ")]
        assert touched
        assert all(LANGUAGES[instance.language].is_test_file(path) for path in touched)
        assert "Cargo.toml" not in instance.gold_patch
        assert len(instance.problem_statement.split()) >= 6
        assert instance.environment is None or (
            isinstance(instance.environment, Recipe) and instance.environment.language == instance.language
        )


def test_five_hundred_rows_load_in_little_time_and_memory(tmp_path: Path) -> None:
    path = lines(tmp_path, *(row(n, patch="x" * 2000, eval_script="y" * 9000, image="i") for n in range(500)))
    load(path)
    start = time.process_time()
    load(path)
    assert time.process_time() - start < 3
    tracemalloc.start()
    kept = load(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(kept.instances) == 500
    assert peak < 500 * 9000  # the scripts are not all held at once


def test_a_row_of_a_file_without_lines_is_named_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([row(1), 7, {"FAIL_TO_PASS": []}, row(1)]))
    assert [str(problem) for problem in load(str(path), skip_bad_rows=True).problems] == [
        f"{path}, row 2: is 7, not a row (an object)",
        f"{path}, row 3: field repo: is missing; every row needs it",
        f"{path}, row 4: owner__name-1: is there twice (first: row 1); keep one row",
    ]
