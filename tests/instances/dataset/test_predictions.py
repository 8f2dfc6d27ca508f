import json
from pathlib import Path

import pytest

from assay.harness.domain import Prediction
from assay.harness.errors import DataError, UserError
from assay.instances.dataset.predictions import check_predictions, read_predictions, read_published
from tables import read_tables

TABLES = read_tables(__file__)

ROW = {"instance_id": "a__b-1", "model_name_or_path": "org/model", "model_patch": "diff"}
EXPECTED = Prediction(instance_id="a__b-1", model="org/model", patch="diff")


def written(folder: Path, name: str, *rows: object, whole: object = None) -> Path:
    path = folder / name
    path.write_text(json.dumps(whole) if whole is not None else "\n".join(json.dumps(row) for row in rows) + "\n")
    return path


def test_lines_list_and_object_give_the_same_predictions(tmp_path: Path) -> None:
    without_id = {key: value for key, value in ROW.items() if key != "instance_id"}
    assert read_predictions(written(tmp_path, "p.jsonl", ROW)) == (EXPECTED,)
    assert read_predictions(written(tmp_path, "list.json", whole=[ROW])) == (EXPECTED,)
    assert read_predictions(written(tmp_path, "dict.json", whole={"a__b-1": without_id})) == (EXPECTED,)


def test_a_row_may_have_a_null_patch_and_other_columns(tmp_path: Path) -> None:
    rows = [
        {"instance_id": "a__b-1", "model_name_or_patch": "m", "model_patch": None, "cost": 3, "x": {"y": []}},
        {"instance_id": "a__b-2", "model_patch": "line\u2028\r\n"},
    ]
    path = written(tmp_path, "p.jsonl")
    path.write_text("\ufeff" + "\n\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    assert read_predictions(path) == (
        Prediction(instance_id="a__b-1", model="m", patch=""),
        Prediction(instance_id="a__b-2", model="", patch="line\u2028\r\n"),
    )
    path.write_text('{"instance_id": "a__b-1", "model_patch": "x\\ud800y"}\n')  # for the patch gate
    assert read_predictions(path)[0].patch == "x\ud800y"


@pytest.mark.parametrize("second", ["a__b-1", "A__B-1"])
def test_two_rows_for_one_instance_name_both_lines(tmp_path: Path, second: str) -> None:
    other = {"instance_id": "a__b-2", "model_patch": ""}
    with pytest.raises(DataError, match="lines 1 and 3") as caught:
        read_predictions(written(tmp_path, "p.jsonl", ROW, other, ROW | {"instance_id": second}))
    assert (caught.value.line, caught.value.instance) == (3, second)
    with pytest.raises(DataError, match="entries 1 and 2"):
        read_predictions(written(tmp_path, "p.json", whole=[ROW, ROW]))


@pytest.mark.parametrize(("row", "field"), TABLES["a_wrong_row_names_line_and_field"])
def test_a_wrong_row_names_line_and_field(tmp_path: Path, row: object, field: str) -> None:
    with pytest.raises(DataError) as caught:
        read_predictions(written(tmp_path, "p.jsonl", ROW, row))
    assert (caught.value.file, caught.value.line, caught.value.field) == (str(tmp_path / "p.jsonl"), 2, field)


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("p.jsonl", b'{"instance_id": "a", "model_patch": ""}\n{oops\n', 2),
        ("p.json", b'[\n{"instance_id": oops}\n]', 2),
        ("p.jsonl", b"\n\xff\xfe\n", 2),
        ("p.json", b"3", 0),
        ("p.json", b'{"a__b-1": {"model_patch": "x"}, "a__b-1": {"model_patch": "y"}}', 0),
    ],
)
def test_a_broken_file_names_the_line(tmp_path: Path, name: str, content: bytes, line: int) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_predictions(tmp_path / name)
    assert (caught.value.line, "\n" in str(caught.value)) == (line, False)
    assert "a__b-1" in str(caught.value) or b"a__b-1" not in content


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(UserError, match=str(path)):
            read_predictions(path)


def test_published_verdicts_are_read_by_instance(tmp_path: Path) -> None:
    rows = [
        ROW | {"published_resolved": True},
        {"instance_id": "a__b-2", "model_patch": "", "published_resolved": False},
        {"instance_id": "a__b-3", "model_patch": "", "published_resolved": None},
        {"instance_id": "a__b-4", "model_patch": ""},
    ]
    assert read_published(written(tmp_path, "p.jsonl", *rows)) == {"a__b-1": True, "a__b-2": False}
    with pytest.raises(DataError, match="published_resolved"):
        read_published(written(tmp_path, "q.jsonl", ROW | {"published_resolved": "yes"}))


def test_predictions_of_unknown_instances_are_refused() -> None:
    check_predictions([Prediction(instance_id="A__B-1")], {"a__b-1"})
    with pytest.raises(UserError, match=r"lacks the instances of 2 predictions, such as c__d-1"):
        check_predictions([Prediction(instance_id=name) for name in ("a__b-1", "c__d-1", "c__d-2")], {"a__b-1"})
