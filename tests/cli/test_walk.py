"""The walk of ARCHITECTURE.md, held against a running evaluation."""

import re
import sys
import threading
import traceback
from pathlib import Path
from types import FrameType

import pytest

from assay.cli.main import main
from assay.harness.engines import fake

ROOT = Path(__file__).parents[2]


def documented() -> list[str]:
    """Return the calls that the page numbers, each as its function's name."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    return [name.rpartition(".")[2] for name in re.findall(r"^\d\. `[\w/]+\.py` `([\w.]+)`", text, re.MULTILINE)]


def frames(top: FrameType | None) -> list[str]:
    """Return Assay's own functions on a stack, from the outermost."""
    files = [(Path(frame.filename).resolve(), frame.name) for frame in traceback.extract_stack(top)]
    floors = [ROOT / name for name in ("harness", "instances", "agents", "src")]
    mine = [name for file, name in files if any(file.is_relative_to(floor) for floor in floors)]
    return [name for name in mine if name != "<dictcomp>"]  # the crew may still be handing out items


def test_the_documented_walk_is_the_stack_of_a_test_command(rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stacks: list[list[str]] = []
    exec_ = fake.FakeBox.exec

    def listening(box: fake.FakeBox, command: list[str], **more: object) -> object:
        if any("supervise" in word for word in command):
            outer = sys._current_frames()[threading.main_thread().ident or 0]
            stacks.append([*frames(outer), *frames(sys._getframe(1)), "exec"])
        return exec_(box, command, **more)

    monkeypatch.setattr(fake.FakeBox, "exec", listening)
    monkeypatch.setattr(sys, "argv", ["assay", "evaluate", str(rows), "--gold", "--engine", "fake"])
    with pytest.raises(SystemExit) as status:
        main()
    assert status.value.code == 0
    assert [name for name in stacks[0] if name != "main"] == documented()
    assert len(documented()) <= 9
    assert len(stacks[0]) <= 10, "with ``main`` of ``assay.__main__``, which is not called here, eleven"
