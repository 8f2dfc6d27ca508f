"""Pictures of what a command prints."""

import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import record_terminal  # noqa: E402

PROGRAM = r"import sys; print('\x1b[1;32mgreen <b>\x1b[0m & plain'); print('x' * 200, file=sys.stderr); sys.exit(3)"


def test_a_picture_shows_every_line_in_its_colors_and_the_status_is_the_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "new" / "demo.svg"
    monkeypatch.setattr(sys, "argv", ["record_terminal.py", str(picture), "--", sys.executable, "-c", PROGRAM])
    with pytest.raises(SystemExit) as stopped:
        record_terminal.main()
    assert stopped.value.code == 3
    assert "plain" in capsys.readouterr().out
    lines = [text for text in ET.parse(picture).iter() if text.tag.endswith("}text")]
    assert "".join(lines[1].itertext()) == "green <b> & plain"
    assert lines[1][0].attrib == {"fill": "#98e024", "font-weight": "bold"}
    assert len("".join(lines[2].itertext())) == record_terminal.COLUMNS


def test_long_pauses_are_cut() -> None:
    assert record_terminal.shorten_pauses([(1.0, "a"), (61.0, "b"), (61.5, "c")]) == [
        (1.5, "a"),
        (3.5, "b"),
        (4.0, "c"),
    ]
