from pathlib import Path

from assay.harness.domain import DatasetRef
from assay.harness.exports.trajectories import find_trajectories, solver_folder
from assay.harness.runs.manifest import Run, RunKind


def solver(folder: Path) -> Path:
    run = Run(
        id=folder.name,
        dataset=DatasetRef(name="rows"),
        model="m",
        started="",
        assay_version="1",
        kind=RunKind.SOLVE,
    )
    folder.mkdir()
    (folder / "run.json").write_text(run.model_dump_json())
    for name, sample in (("a-1", "0"), ("a-1", "1"), ("a-12", "0")):
        path = folder / "instances" / name / sample / "trajectory.json"
        path.parent.mkdir(parents=True)
        path.write_text("{}")
    return folder


def test_a_solvers_first_sample_counts(tmp_path: Path) -> None:
    folder = solver(tmp_path / "mine")
    found = find_trajectories(folder, ["a-1", "a-12", "a-3"])
    assert found == {name: folder / "instances" / name / "0" / "trajectory.json" for name in ("a-1", "a-12")}


def test_the_solver_of_an_evaluated_run_is_beside_it(tmp_path: Path) -> None:
    folder = solver(tmp_path / "mine")
    assert solver_folder(tmp_path / "mine.evaluated") == folder
    assert solver_folder(tmp_path / "other.evaluated") is None
    assert solver_folder(folder) is None


def test_files_are_found_by_the_ids_in_their_names(tmp_path: Path) -> None:
    names = ("a-1.traj", "run/a-12/log.md", "x_A-2_y.json", "b-1.txt")
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text")
    found = find_trajectories(tmp_path, ["a-1", "a-12", "a-2", "a-3"])
    assert found == {
        "a-1": tmp_path / "a-1.traj",
        "a-12": tmp_path / "run/a-12/log.md",
        "a-2": tmp_path / "x_A-2_y.json",
    }
