"""The distribution as a user gets it: built through the source archive, installed elsewhere, and run."""

import json
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from uv import find_uv_bin

from assay.version import __version__
from installed import ROOT, run

pytestmark = [pytest.mark.network, pytest.mark.xdist_group("wheel")]


def test_the_source_archive_holds_every_tracked_file(dist: Path) -> None:
    (archive,) = dist.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        held = {name.partition("/")[2] for name in packed.getnames()}
    tracked = run("git", "ls-files", cwd=ROOT).splitlines()
    wanted = {name for name in tracked if not name.startswith(".ci/") and not (ROOT / name).is_symlink()}
    assert {"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/rules.md", "scripts/bench.py"} <= wanted
    assert wanted - held == set()


def test_the_wheel_of_the_checkout_holds_the_same_files_as_that_of_the_source_archive(
    dist: Path, tmp_path: Path
) -> None:
    run(find_uv_bin(), "build", "--wheel", "--out-dir", tmp_path, ROOT, cwd=tmp_path)
    (ours,), (theirs,) = tmp_path.glob("*.whl"), dist.glob("*.whl")
    assert sorted(zipfile.ZipFile(ours).namelist()) == sorted(zipfile.ZipFile(theirs).namelist())


def test_the_wheel_holds_code_and_data_and_nothing_else(dist: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        "assay/__init__.py",
        "assay/py.typed",
        "assay/harness/grading/grade.py",
        "assay/cli/main.py",
        "assay/dockerfiles/python/environment.Dockerfile",
        "assay/dockerfiles/go/toolchains.yaml",
        "assay/instances/releases/assay.yaml",
    }
    assert wanted <= names
    tracked = run("git", "ls-files", cwd=ROOT).splitlines()
    parts = ("src/assay/", "harness/", "instances/", "agents/", "dockerfiles/")
    shipped = [name for name in tracked if name.startswith(parts) and not (ROOT / name).is_symlink()]
    assert [name for name in shipped if f"assay/{name.removeprefix('src/assay/')}" not in names] == []
    assert {name.partition("/")[0] for name in names} == {"assay", f"assay_bench-{__version__}.dist-info"}


def test_the_installed_command_evaluates(python: Path, tmp_path: Path) -> None:
    patch = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"
    row = {
        "instance_id": "acme__x-1",
        "repo": "acme/x",
        "base_commit": "0" * 40,
        "patch": patch,
        "test_patch": patch.replace("x.py", "tests/test_x.py"),
        "problem_statement": "a is not b",
        "created_at": "2023-01-02T03:04:05Z",
        "version": "1",
        "FAIL_TO_PASS": ["tests/test_x.py::test_b"],
        "PASS_TO_PASS": [],
    }
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    command = python.with_name("assay")
    report = json.loads(run(command, "evaluate", "rows.jsonl", "--gold", "--engine", "fake", "--json", cwd=tmp_path))
    assert report["resolved_ids"] == ["acme__x-1"]
    assert "Usage: assay" in run(command, "--help", cwd=tmp_path)
    assert run(python, "-m", "assay", "--version", cwd=tmp_path) == run(command, "--version", cwd=tmp_path)


def test_the_public_names_are_there(python: Path, tmp_path: Path) -> None:
    program = "import assay; print([getattr(assay, name) is not None for name in assay.__all__])"
    assert "False" not in run(python, "-c", program, cwd=tmp_path)


def test_every_language_has_its_grammar_without_an_extra(python: Path, tmp_path: Path) -> None:
    program = (
        "from assay.harness.languages import LANGUAGES, load_grammar\n"
        "print(all(load_grammar(each, f'x{end}').abi_version for each in LANGUAGES.values() for end in each.SUFFIXES))"
    )
    assert run(python, "-c", program, cwd=tmp_path) == "True\n"


@pytest.mark.docker
def test_the_installed_command_finds_what_it_needs(python: Path, tmp_path: Path) -> None:
    assert run(python.with_name("assay"), "--version", cwd=tmp_path) == f"assay {__version__}\n"
    command = [str(python.with_name("assay")), "doctor", "--quick", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    findings = {each["what"]: each for each in json.loads(done.stdout)["findings"]}
    assert [findings[name]["remedy"] for name in ("engine", "image builder", "git", "uv", "bootstrap")] == [""] * 5


@pytest.mark.docker
def test_the_installed_demo_gives_every_verdict_as_it_should_be(python: Path, tmp_path: Path) -> None:
    shown = run(python.with_name("assay"), "demo", cwd=tmp_path)
    assert "Every verdict is as it should be." in shown
    sealing = ("report", "bundle", "demo.gold", "-o", "demo.bundle", "--new-key", "key")
    run(python.with_name("assay"), *sealing, cwd=tmp_path)
    verified = run(python.with_name("assay"), "report", "verify", "demo.bundle", "--signers", "key.pub", cwd=tmp_path)
    assert "The bundle holds, and its signer is trusted." in verified
