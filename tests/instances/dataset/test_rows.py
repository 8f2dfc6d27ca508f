import json
import sys
from pathlib import Path

import pytest

from assay.harness.errors import DataError, PluginError, UserError
from assay.instances.dataset.load import load
from rowfiles import lines, parquet, row, table


def test_every_kind_of_file_gives_the_same_instances(tmp_path: Path) -> None:
    rows = [row(1, patch="x" * 200_000, problem_statement='two\r\nlines, "quoted"\n'), row(2)]
    (tmp_path / "list.json").write_text(json.dumps(rows))
    (tmp_path / "dict.json").write_text(json.dumps({str(each["instance_id"]): each for each in rows}))
    (tmp_path / "folder").mkdir()
    jsonl = lines(tmp_path, *rows)
    lines(tmp_path / "folder", *rows, name="test.jsonl")
    files = [str(tmp_path / name) for name in ("list.json", "dict.json", "folder")]
    read = [
        load(name).instances
        for name in [jsonl, *files, table(tmp_path, *rows), parquet(tmp_path / "rows.parquet", rows)]
    ]
    bare = [[each.model_dump(exclude={"dataset"}) for each in instances] for instances in read]
    assert [len(instances) for instances in bare] == [2] * 6
    assert all(instances == bare[0] for instances in bare)


def test_the_revision_changes_with_the_content(tmp_path: Path) -> None:
    first = load(lines(tmp_path, row(1)))
    assert first.ref == first.instances[0].dataset
    assert first.ref.name == "rows"
    assert load(lines(tmp_path, row(1))).ref == first.ref
    assert load(lines(tmp_path, row(1, hints_text="x"))).ref.revision != first.ref.revision


def test_lines_that_are_no_rows_are_reported_and_the_others_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(json.dumps(row(1)).encode() + b'\n{"a": \n[1]\n\n\xff\xfe\n' + json.dumps(row(2)).encode())
    loaded = load(str(path), skip_bad_rows=True)
    assert [problem.line for problem in loaded.problems] == [2, 3, 5]
    assert len(loaded.instances) == 2


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("lit", "did you mean lite"),
        ("none.jsonl", "no such data set"),
        ("/none/here", "no such data set"),
        ("a/b/c", "no such data set"),
    ],
)
def test_an_unknown_data_set_is_one_line_with_a_hint(name: str, match: str) -> None:
    with pytest.raises(UserError, match=match) as caught:
        load(name)
    assert "\n" not in str(caught.value)


def test_the_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = parquet(tmp_path / "rows.parquet", [row(1)])
    for module, name, extra in (
        *(("datasets", "lite", "hub"), ("datasets", "owner/name", "hub")),
        ("pyarrow", path, "parquet"),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(PluginError, match=rf"assay-bench\[{extra}\]"):
            load(name)


def test_a_file_that_is_no_parquet_is_a_data_error(tmp_path: Path) -> None:
    (tmp_path / "rows.parquet").write_bytes(b"PAR0 nothing of the kind")
    with pytest.raises(DataError, match="is not parquet"):
        load(str(tmp_path / "rows.parquet"))


def test_a_folder_with_several_files_needs_a_split(tmp_path: Path) -> None:
    lines(tmp_path, row(1), name="dev.jsonl")
    lines(tmp_path, row(2), name="test-00000-of-00001.jsonl")
    with pytest.raises(UserError, match=r"dev\.jsonl, test-0"):
        load(str(tmp_path))
    assert load(str(tmp_path), split="test").instances[0].id == "owner__name-2"
    assert load(str(tmp_path), split="dev").instances[0].id == "owner__name-1"


def test_a_column_split_selects_rows(tmp_path: Path) -> None:
    path = lines(tmp_path, row(1, split="dev"), row(2, split="test"))
    assert [each.id for each in load(path, split="test").instances] == ["owner__name-2"]


def test_a_wrong_row_of_a_csv_file_is_reported_at_its_first_line(tmp_path: Path) -> None:
    path = table(tmp_path, row(1, problem_statement="a\nb\nc"), row(2, base_commit="main"), row(3))
    with Path(path).open("a") as file:
        file.write('short,row\n"never closed')
    problems = load(path, skip_bad_rows=True).problems
    assert [(problem.line, problem.field) for problem in problems] == [(5, "base_commit"), (7, ""), (8, "")]
    assert "has 2 values, but the first line names 11 columns" in str(problems[1])
    assert "is not CSV" in str(problems[2])
