import os
import subprocess
from pathlib import Path
from uuid import uuid4

import pytest

from assay.agents.sampling.workspaces import scripts


def run(command: str, seconds: float = 20, output_bytes: int = 100) -> subprocess.CompletedProcess[bytes]:
    line = scripts.command_line(command, uuid4().hex, "", seconds, output_bytes)
    return subprocess.run(line, capture_output=True, check=False)


def test_command_line_passes_exit_code_and_both_streams() -> None:
    done = run("echo out; echo err >&2; exit 7")
    assert (done.returncode, sorted(done.stdout.split())) == (7, [b"err", b"out"])


@pytest.mark.parametrize(("size", "kept"), [(10, 10), (11, 11), (500, 11)])
def test_command_line_keeps_head_and_tail_and_one_byte_more(size: int, kept: int) -> None:
    assert len(run(f"head -c {size} /dev/zero", output_bytes=10).stdout) == kept


def test_open_store_needs_a_commit(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    script = scripts.open_store(str(tmp_path / "store"), borrow=True)
    assert subprocess.run(["bash", "-c", script], cwd=tmp_path, check=False).returncode != 0


@pytest.mark.parametrize("borrow", [True, False])
def test_open_store_does_not_depend_on_who_owns_the_repository(tmp_path: Path, borrow: bool) -> None:
    """Versions of git before 2.31 read an exception for other owners from files alone, which the script leaves out."""
    commands = "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m base"
    subprocess.run(["bash", "-c", commands], cwd=tmp_path, check=True)
    tree = subprocess.run(["git", "rev-parse", "HEAD^{tree}"], cwd=tmp_path, capture_output=True, check=True).stdout
    foreign = {"PATH": os.environ["PATH"], "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
    script = scripts.open_store(str(tmp_path / "store"), borrow=borrow)
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=foreign, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, tree)


def test_list_files_quotes_its_patterns() -> None:
    assert "'*.it'\"'\"'s'" in scripts.list_files(["*.it's"])
