"""The shell functions that make a repository of the base tree alone, without a container."""

import subprocess
from pathlib import Path

import pytest

from assay.instances.toolchains.buildfiles import build_text

PATCH = "diff --git a/calc.py b/calc.py\n--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1 @@\n-def add(): ...\n KEPT = 1\n"


def git(folder: Path, *words: str) -> str:
    named = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(["git", *named, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def reduced(folder: Path, patch: str) -> subprocess.CompletedProcess[str]:
    """Run the functions as the script of published images does; no patch is no file."""
    functions, base = folder.parent / "functions.sh", folder.parent / "base.patch"
    functions.write_text(build_text("base-only.sh"))
    if patch:
        base.write_text(patch)
    text = f"set -eu\n. {functions}\napply_base {base}\nsquash\n"
    return subprocess.run(["sh", "-c", text], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    (folder / "__pycache__").mkdir(parents=True)
    (folder / "calc.py").write_text("def add(): ...\nKEPT = 1\n")
    (folder / "__pycache__/calc.cpython-311.pyc").write_text("add")
    (folder / ".gitignore").write_text("__pycache__\n")
    git(folder, "init", "-q")
    git(folder, "add", "calc.py", ".gitignore")
    git(folder, "commit", "-qm", "whole")
    (folder / "setup_made_this.txt").write_text("made\n")
    return folder


def test_what_the_patch_takes_away_is_nowhere(tree: Path) -> None:
    assert reduced(tree, PATCH).returncode == 0
    assert (tree / "calc.py").read_text() == "KEPT = 1\n"
    assert git(tree, "log", "--format=%s", "-p", "--all").count("add()") == 0
    assert not (tree / "__pycache__").exists()
    assert git(tree, "ls-files").split() == [".gitignore", "calc.py", "setup_made_this.txt"]
    assert git(tree, "status", "--porcelain") == ""


def test_a_patch_that_is_not_of_the_images_tree_fails(tree: Path) -> None:
    found = reduced(tree, PATCH.replace("add", "sub"))
    assert found.returncode != 0
    assert "patch does not apply" in found.stderr


def test_without_a_patch_the_tree_stays(tree: Path) -> None:
    assert reduced(tree, "").returncode == 0
    assert git(tree, "ls-files").split() == [".gitignore", "calc.py"]
    assert (tree / "__pycache__").exists()


def test_what_is_below_a_submodule_is_not_hidden(tree: Path) -> None:
    git(tree, "update-index", "--add", "--cacheinfo", f"160000,{'a' * 40},some module")
    git(tree, "commit", "-qm", "module")
    (tree / "some module").mkdir()
    assert reduced(tree, "").returncode == 0
    (tree / "some module/new").touch()
    assert "some module/new" in git(tree, "ls-files", "--others", "--exclude-standard")
    assert git(tree, "ls-files").split() == [".gitignore", "calc.py"]


def test_the_tag_of_the_last_release_stays_and_leads_to_the_base_alone(tree: Path) -> None:
    git(tree, "tag", "-a", "v1.2", "-m", "release")
    git(tree, "tag", "nightly")
    (tree / "calc.py").write_text("KEPT = 2\n")
    git(tree, "commit", "-qam", "since the release")
    assert reduced(tree, "").returncode == 0
    assert git(tree, "describe", "--tags").strip() == "v1.2"
    assert git(tree, "for-each-ref", "--format=%(refname) %(objecttype)").split() == [
        *("refs/heads/main", "commit"),
        *("refs/tags/v1.2", "commit"),
    ]
    assert git(tree, "rev-list", "--all", "--count").strip() == "1"
