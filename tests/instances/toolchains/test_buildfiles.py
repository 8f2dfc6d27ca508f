import re
import subprocess
from pathlib import Path

import pytest

from assay.harness.errors import EnvironmentFailure, UserError
from assay.instances.toolchains.buildfiles import build_text, fetch_texts, find_text, runner_texts


def test_a_languages_file_is_not_the_shared_one() -> None:
    assert build_text("instance.sh") != build_text("install.sh", "go") != build_text("install.sh", "rust")


def test_languages_of_one_toolchain_share_a_folder() -> None:
    assert build_text("install.sh", "typescript") == build_text("install.sh", "javascript")
    assert runner_texts("typescript") == runner_texts("javascript")


def test_a_missing_file_or_language_is_named() -> None:
    with pytest.raises(EnvironmentFailure, match=r"dockerfiles/go/nothing\.sh"):
        build_text("nothing.sh", "go")
    with pytest.raises(EnvironmentFailure, match=r"dockerfiles/nothing\.sh"):
        build_text("nothing.sh")
    with pytest.raises(UserError, match="klingon"):
        build_text("install.sh", "klingon")


def test_runner_files_are_found_by_name() -> None:
    assert runner_texts("rust")["run-tests"].startswith("#!/bin/sh\n")
    assert runner_texts("go") == {}


def test_a_file_that_a_language_may_lack_is_empty_then() -> None:
    assert "packages" in find_text("contents.sh", "go")
    assert find_text("contents.sh", "c") == ""


def test_programs_of_fetching_are_found_by_name() -> None:
    assert list(fetch_texts("java")) == ["Central.java"]
    assert fetch_texts("python") == {}


@pytest.mark.parametrize(
    ("named", "files", "followed"),
    [
        ("", "package-lock.json yarn.lock", "package-lock.json"),
        ("yarn@3.2.1", "package-lock.json yarn.lock", "yarn.lock"),
        ("yarn@3.2.1", "package-lock.json", "package-lock.json"),
        ("pnpm@9.0.0", "npm-shrinkwrap.json package-lock.json pnpm-lock.yaml", "pnpm-lock.yaml"),
        ("", "package-lock.json pnpm-lock.yaml pnpm-workspace.yaml", "pnpm-lock.yaml"),
        ("npm@10", "package-lock.json pnpm-lock.yaml pnpm-workspace.yaml", "package-lock.json"),
    ],
)
def test_of_several_locks_that_of_the_projects_manager_is_followed(
    named: str, files: str, followed: str, tmp_path: Path
) -> None:
    found = re.search(r"^choose_lock\(\) \{\n.*?^\}\n", build_text("fetch.sh", "javascript"), re.MULTILINE | re.DOTALL)
    assert found is not None
    for name in ("package.json", *files.split()):
        (tmp_path / name).write_text("{}")
    subprocess.run(["sh", "-euc", f"node() {{ echo {named}; }}\n{found[0]}choose_lock"], cwd=tmp_path, check=True)
    order = ("package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock")
    assert next(name for name in order if (tmp_path / name).exists()) == followed
