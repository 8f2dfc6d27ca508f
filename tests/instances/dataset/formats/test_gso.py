"""GSO's rows: each program becomes a workload and a test, and the base commit may be named by the one after it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from assay.harness.benchmarks.swe_fficiency.workload import read_workload
from assay.harness.domain import DatasetRef, Instance
from assay.harness.errors import DataError
from assay.harness.patches.diff import read_diff
from assay.instances.dataset.formats import gso
from assay.instances.dataset.load import load
from assay.instances.trees.sources import Sources
from toys import Repository

ROWS = Path(__file__).parents[3] / "data/formats/gso.jsonl"


@pytest.fixture
def instance() -> Instance:
    """An instance of two programs."""
    return gso.to_instance(json.loads(ROWS.read_text().splitlines()[1]), DatasetRef(name="d", revision="r"))


def test_each_program_is_timed_without_its_own_clock_and_files(instance: Instance) -> None:
    assert len(instance.other_workloads) == 1
    found = read_workload(instance.workload)
    assert (found.function, found.setup, found.number) == ("_timed", "_prepare", 1)
    for name in ("store_result", "check_equivalence", "argparse.ArgumentParser", "template"):
        assert name not in found.source


def test_each_program_is_a_test_that_ends_well(instance: Instance) -> None:
    first, _ = read_diff(instance.test_patch)
    names: dict[str, Any] = {"__name__": "test"}
    exec("\n".join(first.added()).replace("import calc", "import operator as calc"), names)
    names["test_program"]()
    names["calc"] = None
    with pytest.raises(AttributeError):
        names["test_program"]()
    assert instance.pass_to_pass == ("gso_tests/test_0.py::test_program", "gso_tests/test_1.py::test_program")


def test_a_base_commit_is_found_by_the_one_after_it(tmp_path: Path, repository: Repository) -> None:
    (repository.folder / "calc.py").write_text("1")
    base = repository.commit()
    (repository.folder / "calc.py").write_text("2")
    head = repository.commit()
    shutil.copytree(repository.folder, tmp_path / "mirrors" / "acme__calc")
    row = json.loads(ROWS.read_text().splitlines()[0]) | {"repo": "acme/calc", "base_commit": f"{head}^"}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    sources = Sources([tmp_path / "mirrors"], tmp_path / "cache")
    (found,) = load(str(tmp_path / "rows.jsonl"), sources=sources).instances
    assert found.base_commit == base
    with pytest.raises(DataError, match="which no clone here has"):
        load(str(tmp_path / "rows.jsonl"), sources=Sources((), tmp_path / "other"))
