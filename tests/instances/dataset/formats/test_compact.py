import gzip
import json
from pathlib import Path

import pytest

from assay.harness.errors import UserError
from assay.instances.dataset.formats import compact, native
from assay.instances.dataset.load import load

ROW = {
    "instance_id": "acme__calc-2",
    "repo": "acme/calc",
    "base_commit": "1" * 40,
    "created_at": "2026-03-02T00:00:00Z",
    "problem_statement": "The total of nothing raises.",
    "gold_patch": "--- a/calc.py\n+++ b/calc.py\n@@ -1 +1 @@\n-a\n+b\n",
    "test_patch": "--- a/test_calc.py\n+++ b/test_calc.py\n@@ -1 +1 @@\n-a\n+b\n",
    "fail_to_pass": ["test_calc.py::test_nothing"],
    "pass_to_pass": [f"test_calc.py::test_{number}" for number in range(50)],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    native.open_folder(tmp_path / "set", "set")
    compact.write_table(tmp_path / "set" / "2026-03.jsonl", [ROW])
    return tmp_path / "set"


def test_rows_of_a_table_have_the_labels_beside_it(folder: Path) -> None:
    (instance,) = load(str(folder)).instances
    assert (instance.fail_to_pass, instance.pass_to_pass) == tuple(
        tuple(ROW[name]) for name in ("fail_to_pass", "pass_to_pass")
    )
    assert not {"fail_to_pass", "pass_to_pass"} & set(json.loads((folder / "2026-03.jsonl").read_text()))


def test_the_same_rows_give_the_same_bytes(folder: Path) -> None:
    before = [path.read_bytes() for path in sorted(folder.iterdir())]
    compact.write_table(folder / "2026-03.jsonl", [ROW])
    assert [path.read_bytes() for path in sorted(folder.iterdir())] == before


def test_measured_labels_replace_those_of_a_row(folder: Path) -> None:
    native.write_labels(folder, "acme__calc-2", ["b", "a"], ["d"])
    (instance,) = load(str(folder)).instances
    assert (instance.fail_to_pass, instance.pass_to_pass) == (("a", "b"), ("d",))


def test_a_damaged_file_of_labels_is_named(folder: Path) -> None:
    (folder / "2026-03.labels.gz").write_bytes(b"\x1f\x8b torn")
    with pytest.raises(UserError, match=r"2026-03\.labels\.gz: is damaged"):
        load(str(folder))
    (folder / "2026-03.labels.gz").write_bytes(gzip.compress(b'{"acme__calc-2": []}'))
    with pytest.raises(UserError, match=r"2026-03\.labels\.gz: is no object of labels by instance id"):
        load(str(folder))


def test_a_row_whose_labels_are_missing_is_named(folder: Path) -> None:
    (folder / "2026-03.labels.gz").unlink()
    with pytest.raises(UserError, match="fail_to_pass: is missing"):
        load(str(folder))
