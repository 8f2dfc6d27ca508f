from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay.harness.domain import Instance
from assay.harness.errors import DataError, UserError
from assay.harness.exports.base import ExportFormat, Problem, RunToExport
from assay.harness.exports.metadata import SubmissionMetadata
from assay.harness.exports.write import problems, write
from exported import Made, graded


def made_up(*files: tuple[str, bytes], required: tuple[str, ...] = (), fails: bool = False) -> ExportFormat:
    def written(_run: RunToExport) -> Iterator[tuple[str, bytes]]:
        yield from files
        if fails:
            raise UserError("cannot go on")

    def check(_folder: Path) -> Iterator[Problem]:
        yield Problem("a.txt", "name", "is empty; write one")
        raise DataError("is not JSON", file="b.json", line=3)

    about: Any = SimpleNamespace(NAME="mine", LEADERBOARD=False, REQUIRED=required, files=written, check=check)
    return about


@pytest.fixture
def run(instance: Instance, make_run: Made) -> RunToExport:
    return make_run(graded(instance, {}))


def test_each_evaluation_that_is_read_is_reported(run: RunToExport) -> None:
    said: list[str] = []
    assert [each.instance.id for each in replace(run, progress=said.append).evaluations()] == ["acme__calc-1"] == said


def test_files_appear_together(run: RunToExport, tmp_path: Path) -> None:
    files = (("a.txt", b"1"), ("b/c.txt", b"2"))
    assert write(made_up(*files), run, tmp_path / "out") == ["a.txt", "b/c.txt"]
    assert (tmp_path / "out/b/c.txt").read_bytes() == b"2"


def test_an_error_leaves_nothing(run: RunToExport, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot go on"):
        write(made_up(("a.txt", b"1"), fails=True), run, tmp_path / "x" / "out")
    assert list((tmp_path / "x").rglob("*")) == []


@pytest.mark.parametrize("name", ["../a", "/a", "a//b", "a/./b", "a\\b", "a\0", ""])
def test_no_file_leads_out_of_the_folder(run: RunToExport, tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="cannot be the path of an exported file"):
        write(made_up((name, b"")), run, tmp_path / "out")


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (None, "^--metadata FILE is not given: mine needs authors, os_model; write a line for each"),
        (Path("me.yaml"), "^me.yaml: mine needs authors, os_model; write a line for each"),
    ],
)
def test_every_missing_field_is_named(
    instance: Instance, make_run: Made, tmp_path: Path, file: Path | None, message: str
) -> None:
    run = make_run(graded(instance, {}), metadata=SubmissionMetadata(name="Me", os_system=False))
    chosen = made_up(required=("name", "authors", "os_model", "os_system"))
    with pytest.raises(UserError, match=message):
        write(chosen, run, tmp_path / "out", metadata_file=file)


def test_an_unreadable_file_is_the_last_problem(tmp_path: Path) -> None:
    found = [str(each) for each in problems(made_up(), tmp_path)]
    assert found == ["a.txt: name: is empty; write one", "b.json:3: is not JSON"]


def test_a_folder_to_check_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no such folder to check"):
        problems(made_up(), tmp_path / "none")
