"""Each block of docs/trainers.md is run by the real client, against a real service."""

from pathlib import Path

import pytest

from assay.rewards import client as asking
from documented import ROOT, Block, read
from other_tools import run_with
from served import served
from toy import GOLD, make_instances

BLOCKS = [block for block in read(ROOT / "docs/trainers.md").blocks if block.language == "python"]


@pytest.mark.network
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.needs.partition('==')[0]}-{block.line}")
def test_a_trainers_call_prints_the_rewards_of_a_right_and_of_no_patch(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gold.patch").write_text(GOLD)
    (tmp_path / "call.py").write_text(block.text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(asking.TOKEN, "a-secret-of-some-length")
    packages = [each for each in block.needs.split() if each != "assay-bench"]
    with served(make_instances((1, 2, 3)), tmp_path / "verdicts", token="a-secret-of-some-length") as here:
        monkeypatch.setenv(asking.SERVICE, here.url)
        printed = run_with(packages, "python", "call.py", assay="assay.rewards" in block.text)
    assert printed.split()[-2:] == ["1.0", "0.0"]
