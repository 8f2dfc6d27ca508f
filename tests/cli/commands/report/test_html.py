"""``assay report html`` with the fake engine's runs."""

from collections.abc import Callable
from pathlib import Path

from cli.conftest import Done

Assay = Callable[..., Done]


def test_pages_of_several_runs_are_written_and_counted(assay: Assay, rows: Path, in_folder: Path) -> None:
    assert assay("evaluate", str(rows), "--gold").code == 0
    assert assay("evaluate", str(rows), "--null").code == 0
    done = assay("report", "html", "rows.gold", "runs/rows.null", "-o", "out", "--json")
    assert (done.code, done.json["index"], done.json["runs"]) == (0, "out/index.html", ["rows.gold", "rows.null"])
    assert done.json["pages"] == len([*(in_folder / "out").rglob("*.html")]) > 10
    assert "unresolved" in (in_folder / "out/rows.null/instances/acme__calc-1.html").read_text()
    again = assay("report", "html", "rows.gold", "-o", "out")
    assert again.code == 0
    assert "open out/index.html" in again.out


def test_folder_with_other_files_is_left_alone(assay: Assay, rows: Path, in_folder: Path) -> None:
    assay("evaluate", str(rows), "--gold")
    done = assay("report", "html", "rows.gold", "-o", ".")
    assert done.code == 2
    assert done.err.startswith("assay: . is not empty and holds no earlier report")


def test_unknown_run_is_named_with_those_that_there_are(assay: Assay, rows: Path) -> None:
    assay("evaluate", str(rows), "--gold")
    assay("report", "html", "rows.silver", "-o", "out").refuses("rows.silver", "rows.gold")
