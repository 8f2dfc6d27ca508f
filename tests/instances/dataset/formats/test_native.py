import json
from pathlib import Path

import pytest
from samples import DATASET, PLAIN

from assay.harness.domain import (
    Archive,
    Recipe,
)
from assay.harness.errors import DataError
from assay.instances.dataset.formats import native, swebench, write

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
