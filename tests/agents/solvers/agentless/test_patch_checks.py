"""Reproduction tests of Agentless, one script at a time."""

from pathlib import Path

import pytest

from assay.agents.solvers.agentless.patch_checks import (
    OTHER,
    PYTHON,
    REPRODUCED,
    RESOLVED,
    SHELL,
    change_files,
    find_kind,
    read_script,
    run_reproduction,
)
from solver_sessions import stage


def test_kind_is_python_for_python_and_shell_for_all_others() -> None:
    assert [find_kind(each) for each in ("python", "go", "ruby")] == [PYTHON, SHELL, SHELL]


def test_script_is_the_first_fenced_block() -> None:
    assert read_script("Look:\n```sh\necho 1\n```\n```sh\necho 2\n```") == "echo 1\n"
    assert read_script("I cannot.") == ""


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (f"echo '{REPRODUCED}'", REPRODUCED),
        (f"echo '{RESOLVED}'; exit 1", RESOLVED),
        (f"echo '{OTHER}'", OTHER),
        (f"echo '{REPRODUCED}, not {RESOLVED}'", "it printed more than one"),
        ("exit 1", "it printed none of the three"),
        (" ", "no script in the answer"),
    ],
)
def test_said_by_is_the_one_result_that_a_script_prints(tmp_path: Path, script: str, said: str) -> None:
    on = stage(tmp_path, [])
    assert run_reproduction(on.session, SHELL, script) == said
    assert on.workspace.diff() == ""


def test_changed_restores_the_base(tmp_path: Path) -> None:
    workspace = stage(tmp_path, []).workspace
    with change_files(workspace, {"new.py": "x = 1\n"}):
        assert workspace.read("new.py") == b"x = 1\n"
    assert workspace.diff() == ""
