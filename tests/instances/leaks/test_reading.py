import gzip
import sys
from functools import partial
from io import BytesIO
from pathlib import Path

import pytest

from assay.harness.engines.layers import LayerFile
from assay.harness.errors import EnvironmentFailure
from assay.instances.leaks import reading
from assay.instances.leaks.facts import LayerFacts

FILES = {
    "src/calc.py": b"def add_all_numbers(values):\n    return sum(values)\n",
    "src/calc.py.gz": gzip.compress(b"def subtract_all_numbers(values): ...\n"),
    "testbed/.git/HEAD": b"ref: refs/heads/main\n",
    "etc/environment": b"API_TOKEN=abcdef0123456789\n",
    "usr/bin/program": b"\x7fELF\0 test_of_a_program",
}


def make_layer() -> list[LayerFile]:
    files = [LayerFile(path, size=len(data), open=partial(BytesIO, data)) for path, data in FILES.items()]
    return [
        *files,
        LayerFile("copy.py", same_as="src/calc.py"),
        LayerFile("again.py", same_as="copy.py"),
        LayerFile("old", removed=True),
        LayerFile("b", emptied=True),
    ]


def test_large_layer_says_what_a_small_one_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    facts, lines, words = reading.read_layer(make_layer())
    monkeypatch.setattr(reading, "LARGE", 10)
    (tmp_path / "subprocess.py").write_text("raise SystemExit(1)")  # no module of the current folder is loaded
    monkeypatch.chdir(tmp_path)
    shared_facts, *hashes = reading.read_layer(make_layer())

    assert shared_facts.model_dump_json() == facts.model_dump_json()
    assert hashes == [lines, words]
    assert facts.files["again.py"] == facts.files["copy.py"] == facts.files["src/calc.py"]
    assert (facts.removed, facts.emptied, list(facts.git)) == (("old",), ("b",), ["testbed/.git/HEAD"])
    assert [each.path for each in facts.secrets] == ["etc/environment"]
    assert b"return sum(values)" in lines
    assert b"subtract_all_numbers" in words
    assert b"test_of_a_program" not in words


def test_empty_layer_says_nothing() -> None:
    facts, lines, words = reading.read_layer([])
    assert (facts, len(lines.values), len(words.values)) == (LayerFacts(), 0, 0)


def test_reader_that_is_killed_is_no_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nkill -9 $$\n")
    program.chmod(0o755)
    monkeypatch.setattr(reading, "LARGE", 10)
    monkeypatch.setattr(sys, "executable", str(program))

    with pytest.raises(EnvironmentFailure, match="a process that read a layer has ended"):
        reading.read_layer(make_layer())
