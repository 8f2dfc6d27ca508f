import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from answered import make_project
from rowfiles import lines
from stand_ins import as_row


@pytest.fixture
def rows(in_folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write the rows of the project, the last with a patch that changes nothing that is there."""
    monkeypatch.setattr("assay.instances.trees.sources.GIT_URL", "/nowhere/{repo}")
    written = [as_row(each) for each in make_project(in_folder / "mirrors")]
    written[-1]["patch"] = written[-1]["patch"].replace("calc.py", "none.py")
    return lines(in_folder, *written)


def test_command_writes_a_row_for_each_instance_and_names_those_left_out(
    assay: Callable[..., Any], rows: str, in_folder: Path
) -> None:
    done = assay("dataset", "prompts", rows, "--mirror", "mirrors", "-o", "train.jsonl")
    assert (done.code, done.out) == (0, "2 prompts: train.jsonl\n")
    assert "left out: acme__calc-3: field gold_patch: changes no text of the base commit" in done.err
    found = [json.loads(line) for line in (in_folder / "train.jsonl").read_text().splitlines()]
    assert [each["instance_id"] for each in found] == ["acme__calc-1", "acme__calc-2"]
    shown = assay("dataset", "prompts", rows, "--mirror", "mirrors", "--json").json
    assert (shown["prompts"], len(shown["left_out"]), shown["rows"]) == (2, 1, found)
    printed = assay("dataset", "prompts", rows, "--mirror", "mirrors", "-i", "acme__calc-1").out
    assert json.loads(printed) == found[0]


def test_command_refuses_rows_whose_repository_is_nowhere(assay: Callable[..., Any], rows: str) -> None:
    (Path(rows).parent / "empty").mkdir()
    done = assay("dataset", "prompts", rows, "--mirror", "empty")
    done.refuses("acme__calc-1: field base_commit: cannot be read", "with --mirror DIR")
