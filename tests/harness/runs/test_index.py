"""The index of a folder of runs: what is added is found, by whoever looks, whatever a crash left of the file."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assay.harness.runs.index import VerdictIndex


def test_what_one_process_adds_another_that_has_looked_before_finds(tmp_path: Path) -> None:
    one, other = VerdictIndex(tmp_path), VerdictIndex(tmp_path)
    assert other.find("k") == ""
    one.add({"k": "run/instances/a"})
    assert other.find("k") == "run/instances/a"
    one.add({"l": "run/instances/b"})
    one.add({"k": "later/instances/a"})
    assert [other.find(key) for key in "klm"] == ["later/instances/a", "run/instances/b", ""]


@pytest.mark.parametrize("torn", [b"\xff\x00", b"l run/inst", b"l", b"l "])
def test_a_line_that_a_crash_tore_costs_itself_only(tmp_path: Path, torn: bytes) -> None:
    index = VerdictIndex(tmp_path)
    index.add({"k": "run/instances/a"})
    assert index.find("k")
    with (tmp_path / "verdicts").open("ab") as file:
        file.write(torn)
    assert index.find("l") == ""
    index.add({"m": "run/instances/c"})
    assert [index.find(key) for key in "km"] == ["run/instances/a", "run/instances/c"]


def test_a_file_that_was_cut_off_or_removed_is_read_anew(tmp_path: Path) -> None:
    index = VerdictIndex(tmp_path)
    for key in "kl":
        index.add({key: f"run/instances/{key}"})
    assert index.find("l")
    os.truncate(tmp_path / "verdicts", len("k run/instances/k\n"))
    assert [index.find(key) for key in "kl"] == ["run/instances/k", ""]
    (tmp_path / "verdicts").unlink()
    assert index.find("k") == ""
    index.add({"n": "run/instances/n"})
    assert [index.find(key) for key in "kn"] == ["", "run/instances/n"]


def test_lines_that_are_added_at_once_are_all_found(tmp_path: Path) -> None:
    def add(number: int) -> None:
        VerdictIndex(tmp_path).add({f"key-{number}": f"run/instances/{number}"})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(400)))
    index = VerdictIndex(tmp_path)
    assert [index.find(f"key-{number}") for number in range(400)] == [f"run/instances/{n}" for n in range(400)]
