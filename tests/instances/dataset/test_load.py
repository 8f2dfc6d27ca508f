import csv
import hashlib
import json
import sys
import time
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest
from toys import Index

from assay.harness.domain import Instance, PublishedImage, Recipe, Rule
from assay.harness.errors import DataError, PluginError, UserError
from assay.harness.languages import LANGUAGES
from assay.instances.dataset.load import load
from assay.instances.dataset.rows import BUNDLED
from assay.instances.trees.sources import Sources

ROW = {
    "repo": "Owner/Name",
    "instance_id": "owner__name-1",
    "base_commit": "a" * 40,
    "patch": "gold",
    "test_patch": "tests",
    "problem_statement": "It breaks.",
    "hints_text": "",
    "created_at": "2020-01-02T03:04:05Z",
    "version": "1.2",
    "FAIL_TO_PASS": '["t.py::a"]',
    "PASS_TO_PASS": '["t.py::b", "t.py::c"]',
}


def row(number: int, **more: object) -> dict[str, object]:
    return ROW | {"instance_id": f"owner__name-{number}"} | more


def lines(folder: Path, *rows: object, name: str = "rows.jsonl") -> str:
    path = folder / name
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return str(path)


def parquet(path: Path, rows: list[dict[str, object]]) -> str:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(rows), path)
    return str(path)


def only(dataset: str) -> Instance:
    (instance,) = load(dataset).instances
    return instance


def test_every_container_gives_the_same_instances(tmp_path: Path) -> None:
    rows = [row(1), row(2)]
    (tmp_path / "list.json").write_text(json.dumps(rows))
    (tmp_path / "dict.json").write_text(json.dumps({str(each["instance_id"]): each for each in rows}))
    (tmp_path / "folder").mkdir()
    jsonl = lines(tmp_path, *rows)
    lines(tmp_path / "folder", *rows, name="test.jsonl")
    files = [str(tmp_path / name) for name in ("list.json", "dict.json", "folder")]
    read = [load(name).instances for name in [jsonl, *files, parquet(tmp_path / "rows.parquet", rows)]]
    bare = [[each.model_dump(exclude={"dataset"}) for each in instances] for instances in read]
    assert [len(instances) for instances in bare] == [2] * 5
    assert all(instances == bare[0] for instances in bare)


def test_the_revision_is_the_content(tmp_path: Path) -> None:
    first = load(lines(tmp_path, row(1)))
    assert first.ref == first.instances[0].dataset
    assert first.ref.name == "rows"
    assert load(lines(tmp_path, row(1))).ref == first.ref
    assert load(lines(tmp_path, row(1, hints_text="x"))).ref.revision != first.ref.revision


def test_published_images_are_used_when_asked_for(tmp_path: Path) -> None:
    path = lines(
        tmp_path, row(1, image="x/y:z", eval_script="run", log_parser="parse_log_django", eval_type="fail_only")
    )
    assert only(path).environment is None
    assert (only(path).log_format, only(path).rule) == ("unittest_text", Rule.SWE_BENCH_FAIL_ONLY)
    kept = load(path, published_images=True).instances[0]
    assert kept.environment == PublishedImage(image="x/y:z", eval_script="run")


def test_ids_compare_in_any_case_and_keep_the_order_of_the_file(tmp_path: Path) -> None:
    path = lines(tmp_path, *(row(number) for number in range(1, 30)))
    chosen = load(path, ids=["OWNER__name-7", "owner__Name-3"])
    assert [each.id for each in chosen.instances] == ["owner__name-3", "owner__name-7"]


def test_an_unknown_id_is_answered_with_close_ones(tmp_path: Path) -> None:
    path = lines(tmp_path, row(1), row(2000))
    with pytest.raises(UserError, match="has no owner__name-2001; close: owner__name-2000") as caught:
        load(path, ids=["owner__name-2001", "owner__name-1"])
    assert not isinstance(caught.value, DataError)


def test_a_wrong_row_that_is_not_asked_for_does_not_matter(tmp_path: Path) -> None:
    assert load(lines(tmp_path, row(1), row(2, patch=None)), ids=["owner__name-1"]).problems == ()


WRONG = [
    ({"repo": None}, "repo"),
    ({"patch": 3}, "patch"),
    ({"instance_id": None}, "instance_id"),
    ({"instance_id": "../../etc"}, "instance_id"),
    ({"base_commit": "main"}, "base_commit"),
    ({"FAIL_TO_PASS": "t.py::a"}, "FAIL_TO_PASS"),
    ({"FAIL_TO_PASS": [1]}, "FAIL_TO_PASS"),
    ({"PASS_TO_PASS": None}, "PASS_TO_PASS"),
    ({"created_at": "yesterday"}, "created_at"),
    ({"eval_type": "vibes"}, "eval_type"),
]


@pytest.mark.parametrize(("change", "field"), WRONG)
def test_a_wrong_row_names_file_line_id_and_field(tmp_path: Path, change: dict[str, object], field: str) -> None:
    path = lines(tmp_path, row(1), row(2) | change)
    with pytest.raises(DataError) as caught:
        load(path)
    wrong = caught.value
    assert (wrong.file, wrong.line, wrong.field) == (path, 2, field)
    assert wrong.instance == ("owner__name-2" if "instance_id" not in change else change["instance_id"] or "")
    assert "\n" not in str(wrong)
    loaded = load(path, skip_bad_rows=True)
    assert [each.id for each in loaded.instances] == ["owner__name-1"]
    assert [str(problem) for problem in loaded.problems] == [str(wrong)]


def test_labels_that_overlap_are_wrong(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"t\.py::a"):
        load(lines(tmp_path, row(1, PASS_TO_PASS=["t.py::a"])))


def test_many_wrong_rows_are_told_together(tmp_path: Path) -> None:
    path = lines(tmp_path, row(0), *(row(number, repo=None) for number in range(1, 9)), row(10))
    with pytest.raises(UserError) as caught:
        load(path)
    told = str(caught.value).splitlines()
    assert told[0].startswith("rows: 8 wrong rows")
    assert [line.startswith(f"{path}:{number + 1}: owner__name-{number}: ") for number, line in enumerate(told[1:6], 1)]
    assert told[6] == "... and 3 more"
    assert [each.id for each in load(path, skip_bad_rows=True).instances] == ["owner__name-0", "owner__name-10"]


def test_lines_that_are_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(json.dumps(row(1)).encode() + b'\n{"a": \n[1]\n\n\xff\xfe\n' + json.dumps(row(2)).encode())
    loaded = load(str(path), skip_bad_rows=True)
    assert [problem.line for problem in loaded.problems] == [2, 3, 5]
    assert len(loaded.instances) == 2


@pytest.mark.parametrize("again", ["owner__name-1", "Owner__Name-1"])
def test_an_instance_that_is_there_twice(tmp_path: Path, again: str) -> None:
    with pytest.raises(DataError, match=r"twice \(first: line 1") as caught:
        load(lines(tmp_path, row(1), row(2), row(1, instance_id=again)))
    assert (caught.value.line, caught.value.instance) == (3, again)


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("lit", "did you mean lite"),
        ("none.jsonl", "no such data set"),
        ("/none/here", "no such data set"),
        ("a/b/c", "no such data set"),
    ],
)
def test_a_data_set_that_is_not_there(name: str, match: str) -> None:
    with pytest.raises(UserError, match=match) as caught:
        load(name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["lite", "owner/name"])
def test_the_hub_needs_an_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(PluginError, match=r"assay-bench\[hub\]"):
        load(name)


def test_parquet_needs_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = parquet(tmp_path / "rows.parquet", [row(1)])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(PluginError, match=r"assay-bench\[parquet\]"):
        load(path)


def test_a_file_that_is_no_parquet(tmp_path: Path) -> None:
    (tmp_path / "rows.parquet").write_bytes(b"PAR0 nothing of the kind")
    with pytest.raises(DataError, match="is not parquet"):
        load(str(tmp_path / "rows.parquet"))


def test_a_folder_with_several_files_wants_a_split(tmp_path: Path) -> None:
    lines(tmp_path, row(1), name="dev.jsonl")
    lines(tmp_path, row(2), name="test-00000-of-00001.jsonl")
    with pytest.raises(UserError, match=r"dev\.jsonl, test-0"):
        load(str(tmp_path))
    assert load(str(tmp_path), split="test").instances[0].id == "owner__name-2"
    assert load(str(tmp_path), split="dev").instances[0].id == "owner__name-1"


def test_a_column_split_is_honoured(tmp_path: Path) -> None:
    path = lines(tmp_path, row(1, split="dev"), row(2, split="test"))
    assert [each.id for each in load(path, split="test").instances] == ["owner__name-2"]


def test_rows_of_an_unknown_format_are_one_line(tmp_path: Path) -> None:
    rows = [{"question": "1 + 1", "answer": n} for n in range(9)]
    with pytest.raises(UserError, match=r"question, answer.*swebench") as caught:
        load(lines(tmp_path, *rows))
    assert "\n" not in str(caught.value)


def task(folder: Path, name: str, **files: str) -> None:
    at = folder / "tasks" / name
    at.mkdir(parents=True)
    for file, content in files.items():
        (at / file.replace("__", ".")).write_text(content)


def test_a_native_folder(tmp_path: Path) -> None:
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


def test_the_shared_recipe_is_for_tasks_of_its_language(tmp_path: Path) -> None:
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


def test_what_is_wrong_with_a_derivation_names_the_file_of_its_task(tmp_path: Path) -> None:
    (tmp_path / "assay.yaml").write_text("name: mine\n")
    task(tmp_path, "o__r-1", task__yaml="repo: o/r\nderive: {index: npm, name: r}\n", problem__md="It breaks.\n")
    with pytest.raises(DataError, match=r"o__r-1: field derive\.index: .*'pypi', 'go' or 'crates'") as caught:
        load(str(tmp_path))
    assert str(caught.value).startswith(str(tmp_path / "tasks" / "o__r-1"))
    assert "\n" not in str(caught.value)


def test_what_is_wrong_with_a_native_task_names_its_file(tmp_path: Path) -> None:
    (tmp_path / "assay.yaml").write_text("name: mine\n")
    task(tmp_path, "o__r-1", task__yaml="a: [")
    task(tmp_path, "o__r-2", task__yaml="repo: o/r\ninstance_id: o__r-3\n")
    task(tmp_path, "o__r-4", task__yaml="repo: o/r\ncreated_at: 2020-01-01\n", tests__json="{")
    task(tmp_path, "o__r-5", task__yaml="repo: o/r\ncreated_at: 2020-01-01\nrecipe: {pyton: 3}\n",
         tests__json='{"fail_to_pass": [], "pass_to_pass": []}')  # fmt: skip
    problems = [str(problem) for problem in load(str(tmp_path), skip_bad_rows=True).problems]
    for problem, part in zip(problems, ["task.yaml:2", "o__r-3", "tests.json:1", "pyton"], strict=True):
        assert part in problem


def test_a_task_repository_of_swebench(tmp_path: Path) -> None:
    (tmp_path / "sweb.yaml").write_text("datasets: [x]\nsplits: [test]\n")
    task(
        tmp_path, "o__r-1",
        task__yaml=f"repo: o/r\nversion: '1'\nbase_commit: {'b' * 40}\nsplit: test\nimage: i\n"
        "log_parser: parse_log_sympy\neval_type: pass_and_fail\ncreated_at: '2020-01-02T03:04:05Z'\n",
        problem_statement__md="It breaks.", gold__patch="gold", test__patch="tests", eval__sh="run",
        tests__json='{"FAIL_TO_PASS": ["a"], "PASS_TO_PASS": ["b"]}',
    )  # fmt: skip
    instance = load(str(tmp_path), published_images=True, split="test").instances[0]
    assert instance.environment == PublishedImage(image="i", eval_script="run")
    assert (instance.log_format, instance.gold_patch, instance.pass_to_pass) == ("sympy_text", "gold", ("b",))
    assert load(str(tmp_path), split="deprecated").instances == ()


TASK = {
    "repo": "o/r", "version": "1", "base_commit": "b" * 40, "split": "test", "image": "i",
    "log_parser": "parse_log_karma", "eval_type": "fail_only",
}  # fmt: skip


def sweb_task(folder: Path, name: str, **changes: object) -> Path:
    (folder / "sweb.yaml").write_text("datasets: [x]\nsplits: [test]\n")
    task(
        folder, name, task__yaml=json.dumps(TASK | changes), problem_statement__md="It breaks.", gold__patch="gold",
        test__patch="tests", eval__sh="run", tests__json='{"FAIL_TO_PASS": ["a"], "PASS_TO_PASS": []}',
    )  # fmt: skip
    return folder / "tasks" / name


def test_a_task_that_is_deprecated_is_never_loaded(tmp_path: Path) -> None:
    sweb_task(tmp_path, "o__r-1")
    sweb_task(tmp_path, "o__r-2", split="deprecated")
    assert [each.id for each in load(str(tmp_path)).instances] == ["o__r-1"]
    assert load(str(tmp_path), split="deprecated").instances == ()


@pytest.mark.parametrize("field", TASK)
def test_a_task_of_a_task_repository_needs_its_keys(tmp_path: Path, field: str) -> None:
    sweb_task(tmp_path, "o__r-1", **{field: None})
    with pytest.raises(DataError, match="is missing; every task of this layout needs it") as caught:
        load(str(tmp_path))
    assert (caught.value.file, caught.value.instance, caught.value.field) == (
        str(tmp_path / "tasks/o__r-1/task.yaml"), "o__r-1", field,
    )  # fmt: skip


def test_binary_files_of_a_task_come_before_their_addresses(tmp_path: Path) -> None:
    entries = [{"path": f"test/{name}.png", "url": f"https://images.example/{name}.png"} for name in "ab"]
    folder = sweb_task(tmp_path, "o__r-1", image_assets={"problem_statement": [], "patch": [], "test_patch": entries})
    (folder / "test_assets/test").mkdir(parents=True)
    (folder / "test_assets/test/b.png").write_bytes(b"png")
    away, here = only(str(tmp_path)).assets
    assert (away.path, away.url, away.sha256) == ("test/a.png", "https://images.example/a.png", None)
    assert (here.path, here.url) == ("test/b.png", (folder / "test_assets/test/b.png").as_uri())
    assert here.sha256 == hashlib.sha256(b"png").hexdigest()


def table(folder: Path, *rows: dict[str, object]) -> str:
    path = folder / "rows.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def test_a_table_gives_the_same_instances_as_lines(tmp_path: Path) -> None:
    rows = [row(1, patch="x" * 200_000, problem_statement='two\r\nlines, "quoted"\n'), row(2)]
    read = [load(name).instances for name in (table(tmp_path, *rows), lines(tmp_path, *rows))]
    bare = [[each.model_dump(exclude={"dataset"}) for each in instances] for instances in read]
    assert bare[0] == bare[1]


def test_a_wrong_row_of_a_table_is_found_where_it_begins(tmp_path: Path) -> None:
    path = table(tmp_path, row(1, problem_statement="a\nb\nc"), row(2, base_commit="main"), row(3))
    with Path(path).open("a") as file:
        file.write('short,row\n"never closed')
    problems = load(path, skip_bad_rows=True).problems
    assert [(problem.line, problem.field) for problem in problems] == [(5, "base_commit"), (7, ""), (8, "")]
    assert "has 2 values, but the first line names 11 columns" in str(problems[1])
    assert "is not CSV" in str(problems[2])


def test_ids_that_columns_make_up_can_be_chosen_and_are_not_there_twice(tmp_path: Path) -> None:
    sample = (Path(__file__).parents[2] / "data/formats/multi-swe-bench.jsonl").read_text().splitlines()
    bean = json.loads(sample[1])
    assert "instance_id" not in bean
    path = lines(tmp_path, bean)
    assert [each.id for each in load(path, ids=["ACME__beans-15"]).instances] == ["acme__Beans-15"]
    with pytest.raises(DataError, match=r"twice \(first: line 1"):
        load(lines(tmp_path, bean, bean | {"instance_id": "acme__beans-15"}))


def test_rows_of_several_dialects_may_share_a_file(tmp_path: Path) -> None:
    samples = (Path(__file__).parents[2] / "data/formats").glob("*.jsonl")
    rows = [json.loads(path.read_text().splitlines()[0]) | {"instance_id": path.stem} for path in samples]
    loaded = load(lines(tmp_path, *rows))
    assert {str(each.rule) for each in loaded.instances} == {str(rule) for rule in Rule} - {"swe-bench-fail-only"}


def test_a_row_of_an_unknown_language_or_parser_loads(tmp_path: Path) -> None:
    path = lines(tmp_path, row(1, language="Cobol"), row(2, log_parser="parse_log_unheard_of"))
    first, second = load(path).instances
    assert (first.language, second.log_format) == ("cobol", "parse_log_unheard_of")


def test_a_native_task_is_derived_only_when_asked_for(tmp_path: Path, index: Index, sources: Sources) -> None:
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


def test_the_bundled_data_set_holds_facts_only() -> None:
    tasks = sorted((BUNDLED["releases"] / "tasks").iterdir())
    assert len(tasks) >= 6
    for folder in tasks:
        names = {path.name for path in folder.iterdir()}
        assert names in ({"task.yaml", "tests.json"}, {"task.yaml", "tests.json", "problem.md"})
        labels = json.loads((folder / "tests.json").read_text())
        assert labels["fail_to_pass"]
        assert not set(labels["fail_to_pass"]) & set(labels["pass_to_pass"])


@pytest.mark.network
def test_the_bundled_data_set_loads(sources: Sources) -> None:
    loaded = load("releases", sources=sources)
    assert loaded.ref.name == "releases"
    languages = Counter(instance.language for instance in loaded.instances)
    assert languages["python"] >= 6
    assert languages["go"] >= 2
    assert languages["rust"] >= 2
    for instance in loaded.instances:
        assert instance.archive
        assert instance.gold_patch.startswith("diff --git ")
        touched = [line.partition(" b/")[2] for line in instance.test_patch.splitlines() if line.startswith("diff ")]
        assert touched
        assert all(LANGUAGES[instance.language].is_test_file(path) for path in touched)
        assert "Cargo.toml" not in instance.gold_patch
        assert len(instance.problem_statement.splitlines()) > 3
        if instance.language != "python":
            assert instance.environment is None  # the recipe at the top of the data set is Python's


def test_five_hundred_rows_load_fast_and_lightly(tmp_path: Path) -> None:
    path = lines(tmp_path, *(row(n, patch="x" * 2000, eval_script="y" * 9000, image="i") for n in range(500)))
    load(path)
    start = time.process_time()
    load(path)
    assert time.process_time() - start < 0.3
    tracemalloc.start()
    kept = load(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(kept.instances) == 500
    assert peak < 500 * 9000  # the scripts are not all held at once
