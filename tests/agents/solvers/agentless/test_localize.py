"""Paths that remain after a question of the localisation."""

import pytest

from assay.agents.solvers.agentless.localize import drop_named

PATHS = ["app/a.py", "app/views/b.py", "docs/conf.py", "setup.py", "tools/x.go"]


def test_without_removes_folders_and_files() -> None:
    answer = "These have nothing to do with it:\n```\ndocs/\n/testbed/tools/\n`setup.py`\n```"
    assert drop_named(answer, PATHS, "/testbed") == ["app/a.py", "app/views/b.py"]


@pytest.mark.parametrize("answer", ["", "app\ntools", "/\n", "app/\ndocs/\ntools/\nsetup.py"])
def test_without_keeps_all_for_half_a_name_the_root_or_everything(answer: str) -> None:
    assert drop_named(answer, PATHS, "/testbed") == PATHS
