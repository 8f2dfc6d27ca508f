from collections.abc import Sequence
from pathlib import Path

import pytest

from assay.harness.domain import DatasetRef, Instance
from assay.harness.errors import DataError, UserError
from assay.instances.dataset.labels import read_labels, relabel
from assay.instances.dataset.load import load
from rowfiles import lines, row
from samples import read


def instances(folder: Path) -> Sequence[Instance]:
    return load(lines(folder, row(1), row(2))).instances


def labels(folder: Path, *rows: object) -> Path:
    return Path(lines(folder, *rows, name="labels.jsonl"))


OTHER = {"instance_id": "OWNER__name-1", "FAIL_TO_PASS": ["t.py::new"], "PASS_TO_PASS": '["t.py::a"]'}


def test_labels_take_the_place_of_an_instances_own_and_others_stay(tmp_path: Path) -> None:
    before = instances(tmp_path)
    first, second = relabel(before, read_labels(labels(tmp_path, OTHER)))
    assert (first.fail_to_pass, first.pass_to_pass) == (("t.py::new",), ("t.py::a",))
    assert first.test_patch == before[0].test_patch
    assert second.model_copy(update={"dataset": before[1].dataset}) == before[1]


def test_all_instances_are_of_another_data_set_then(tmp_path: Path) -> None:
    before = instances(tmp_path)
    one = relabel(before, read_labels(labels(tmp_path, OTHER)))
    other = relabel(before, read_labels(labels(tmp_path, {**OTHER, "PASS_TO_PASS": []})))
    assert {each.dataset.name for each in one} == {"rows with labels labels.jsonl"}
    assert len({each.dataset.revision for each in (*before, *one, *other)}) == 3


def test_a_row_may_bring_its_own_test_patch_and_the_columns_of_the_native_dialect(tmp_path: Path) -> None:
    native = {"instance_id": "owner__name-1", "fail_to_pass": ["x"], "pass_to_pass": [], "test_patch": "stronger"}
    first, _ = relabel(instances(tmp_path), read_labels(labels(tmp_path, native)))
    assert (first.fail_to_pass, first.test_patch) == (("x",), "stronger")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"FAIL_TO_PASS": []}], "labels.jsonl:1: field instance_id: is missing"),
        ([OTHER, OTHER], "labels.jsonl:2: OWNER__name-1: field instance_id: is there twice"),
        ([{**OTHER, "PASS_TO_PASS": 3}], "labels.jsonl:1: owner__name-1: field PASS_TO_PASS: is 3"),
        ([{"instance_id": "owner__name-1", "FAIL_TO_PASS": []}], "owner__name-1: field PASS_TO_PASS: is missing"),
        ([{**OTHER, "PASS_TO_PASS": ["t.py::new"]}], "field FAIL_TO_PASS: shares 't.py::new' with PASS_TO_PASS"),
    ],
)
def test_a_wrong_row_is_one_line_with_its_place(tmp_path: Path, rows: list[object], message: str) -> None:
    with pytest.raises(DataError) as caught:
        relabel(instances(tmp_path), read_labels(labels(tmp_path, *rows)))
    assert message in str(caught.value)


def test_labels_of_other_instances_alone_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has labels of none of these instances; its first is of acme__calc-9"):
        relabel(instances(tmp_path), read_labels(labels(tmp_path, {**OTHER, "instance_id": "acme__calc-9"})))


def test_labels_that_follow_from_recorded_runs_are_not_replaced(tmp_path: Path) -> None:
    recorded = read("multi-swe-bench").model_copy(update={"dataset": DatasetRef(name="multi")})
    with pytest.raises(DataError, match="three runs"):
        relabel([recorded], read_labels(labels(tmp_path, {**OTHER, "instance_id": recorded.id})))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file of labels"):
        read_labels(tmp_path / "none.jsonl")
