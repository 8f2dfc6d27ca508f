"""Sealing: the same run gives the same bytes, and only what holds is sealed."""

import json
import shutil
import tracemalloc
from pathlib import Path

import pytest

from assay.harness.bundles.seal import seal
from assay.harness.bundles.tar import read_members
from assay.harness.bundles.verify import verify
from assay.harness.errors import UserError
from assay.harness.runs.store import RunStore
from planted import PLANTED, TEXT, find_left, has_counted_all, plant
from sealed import RUN, SealedRun, nothing_shown


@pytest.fixture
def copies(sealed: SealedRun, tmp_path: Path) -> list[RunStore]:
    """The run and its controls, in a folder of the test's own."""
    shutil.copytree(sealed.store.root.parent, tmp_path / "runs")
    return [RunStore(tmp_path / "runs" / name) for name in (RUN, f"{RUN}.control-gold", f"{RUN}.control-null")]


def test_the_same_run_gives_the_same_bytes(sealed: SealedRun, copies: list[RunStore], tmp_path: Path) -> None:
    lock = sealed.files()["images.lock"]
    (copies[0].root / "lock").unlink()
    (copies[0].root / "run.json").touch()
    done = seal(copies, lock, sealed.key, tmp_path / "again", nothing_shown)
    assert (tmp_path / "again").read_bytes() == sealed.path.read_bytes()
    assert done.size == sealed.path.stat().st_size


def test_neither_key_nor_anything_else_of_the_machine_is_packed(sealed: SealedRun) -> None:
    secret = (sealed.path.parent / "key").read_bytes()
    content = sealed.path.read_bytes()
    assert secret not in content
    assert str(sealed.path.parent).encode() not in content
    assert not [name for name in sealed.files() if name.endswith("/lock")]


def test_files_that_are_no_part_of_a_run_stay_outside(
    sealed: SealedRun, copies: list[RunStore], tmp_path: Path
) -> None:
    (copies[0].root / "notes.txt").write_text("private")
    (copies[0].root / "instances" / "acme__calc-9").mkdir()
    (copies[0].root / "instances" / "acme__calc-9" / "evidence.json").write_text("of an earlier run")
    (copies[0].root / "instances" / "acme__calc-1" / ".half").mkdir()
    seal(copies, sealed.files()["images.lock"], sealed.key, tmp_path / "again", nothing_shown)
    assert (tmp_path / "again").read_bytes() == sealed.path.read_bytes()


def test_an_unfinished_run_is_not_sealed(sealed: SealedRun, copies: list[RunStore], tmp_path: Path) -> None:
    (copies[0].root / "report.json").unlink()
    with pytest.raises(UserError, match=r"has no report\.json: run it to its end"):
        seal(copies, b"", sealed.key, tmp_path / "again", nothing_shown)
    assert not (tmp_path / "again").exists()


def test_a_run_whose_verdict_is_not_what_its_evidence_gives_is_not_sealed(
    sealed: SealedRun, copies: list[RunStore], tmp_path: Path
) -> None:
    verdict = copies[0].root / "instances/acme__calc-2/verdict.json"
    verdict.write_text(verdict.read_text().replace('"unresolved"', '"resolved"'))
    with pytest.raises(UserError, match=r"verdict\.json: outcome is resolved.*run assay report regrade mine"):
        seal(copies, b"", sealed.key, tmp_path / "again", nothing_shown)


@pytest.mark.parametrize("target", ["/etc/hostname", "/", "nowhere"])
def test_a_link_in_a_run_is_not_sealed(target: str, sealed: SealedRun, copies: list[RunStore], tmp_path: Path) -> None:
    (copies[0].root / "instances/acme__calc-1/reports/link").symlink_to(target)
    with pytest.raises(UserError, match="is a link or no regular file"):
        seal(copies, b"", sealed.key, tmp_path / "again", nothing_shown)


def test_a_large_output_is_streamed(sealed: SealedRun, copies: list[RunStore], tmp_path: Path) -> None:
    (copies[0].root / "instances/acme__calc-1/test_output.txt").write_bytes(bytes(64_000_000))
    tracemalloc.start()
    try:
        seal(copies, sealed.files()["images.lock"], sealed.key, tmp_path / "large", nothing_shown)
        (tmp_path / "scratch").mkdir()
        assert verify(tmp_path / "large", None, tmp_path / "scratch", nothing_shown).holds
        assert tracemalloc.get_traced_memory()[1] < 16_000_000
    finally:
        tracemalloc.stop()


def test_no_secret_is_packed_except_in_what_decides(
    sealed: SealedRun, copies: list[RunStore], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    folder, kept = copies[0].root / "instances/acme__calc-1", PLANTED[2]
    (folder / "test_output.txt").write_text(TEXT)
    (folder / "reports/junit.json").write_text(json.dumps({"log": [TEXT]}))
    (folder / "patchdiff/test_it.py").write_text(TEXT)
    instance = folder / "instance.json"
    instance.write_text(instance.read_text().replace("add subtracts", kept.line))
    done = seal(copies, sealed.files()["images.lock"], sealed.key, tmp_path / "again", nothing_shown)
    with (tmp_path / "again").open("rb") as file:
        files = {each.name: b"".join(each.chunks()) for each in read_members(file)}
    inside = {name.rpartition("/")[2]: find_left(files[name]) for name in files if "acme__calc-1" in name}
    assert {name for name, left in inside.items() if left} == {
        "instance.json",
        "test_output.txt",
        "junit.json",
        "test_it.py",
    }
    assert {secret for left in inside.values() for secret in left} == {kept.secret}
    assert files[f"runs/{RUN}/instances/acme__calc-1/instance.json"] == instance.read_bytes()
    assert has_counted_all(done.redaction.taken + done.redaction.kept, 3)
    (tmp_path / "scratch").mkdir()
    found = verify(tmp_path / "again", None, tmp_path / "scratch", nothing_shown)
    assert (found.problems, found.graded) == ((), 3)
