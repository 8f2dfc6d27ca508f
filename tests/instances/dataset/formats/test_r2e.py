import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assay.harness.domain import Status
from assay.harness.errors import DataError
from assay.instances.dataset.formats import r2e
from samples import PLAIN, read


def test_patches_are_rebuilt_from_the_parsed_commit(tmp_path: Path) -> None:
    instance = read("r2e")
    assert instance.id == "tiny-" + "c" * 40
    assert instance.base_commit == "b" * 40
    assert instance.problem_statement == "f gives 1"
    assert instance.created_at == datetime(2019, 8, 7, 6, 5, 4, tzinfo=UTC)
    assert instance.stages is not None
    assert instance.stages.fix == {"test_f": Status.PASSED, "TestG.test_h": Status.FAILED}
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/f.py").write_text("def f():\n    return 1\n")
    for patch in (instance.gold_patch, instance.test_patch):
        subprocess.run(["git", "apply", "-"], input=patch, text=True, cwd=tmp_path, check=True)
    assert (tmp_path / "lib/f.py").read_text() == "def f():\n    return 2"
    assert (tmp_path / "tests/test_f.py").read_text() == "def test_f(): ...\n"
    assert "logo.png" not in read("r2e", 1).gold_patch
    with pytest.raises(DataError, match="came from a row"):
        r2e.from_instance(PLAIN)
