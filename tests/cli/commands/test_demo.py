import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from assay.cli.commands import demo
from assay.harness.errors import EnvironmentFailure
from toy import make_instance


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.exhaustive  # tests/test_wheel.py runs the same command as it is installed
def test_the_demo_is_as_it_should_be(in_folder: Path) -> None:
    command = [sys.executable, "-m", "assay", "demo", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=in_folder, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert shown["as_hoped"]
    assert [(row["patch"], row["outcome"]) for row in shown["verdicts"]] == [
        *[("gold", "resolved")] * 4,
        *[("null", "unresolved")] * 4,
        ("partial", "unresolved"),
    ]
    partial = shown["verdicts"][-1]
    assert 0 < len(partial["unfixed"]) < 10  # wrong, though it mends most


def test_an_instance_that_cannot_be_fetched_is_left_out_and_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def load(_dataset: str, ids: list[str], _split: None) -> SimpleNamespace:
        if ids[0] != demo.PARTIAL:
            raise EnvironmentFailure("cargo cannot fetch it")
        return SimpleNamespace(instances=[make_instance(id=ids[0])])

    monkeypatch.setattr(demo, "load_instances", load)
    assert [each.id for each in demo._load_instances()] == [demo.PARTIAL]
    assert capsys.readouterr().err.count("left out, cargo cannot fetch it") == 3
    monkeypatch.setattr(demo, "PARTIAL", "")
    with pytest.raises(EnvironmentFailure, match="cannot fetch it"):
        demo._load_instances()
