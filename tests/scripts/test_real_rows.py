"""The ledger of real rows: its page is made of its lines, and a row that was right and is not now is lost."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from front_door import run
from rowfiles import lines
from stand_ins import as_row
from toy import make_instances

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import real_rows  # noqa: E402

GOLD = real_rows.Row("a__b-1", "rows", "go", "gold", "resolved", "all pass", 1.5, "11111111", "2026-11-28")
NULL = replace(GOLD, patch="null", outcome="unresolved", reason="1 of 1 unfixed")


def test_the_page_is_made_of_the_ledger() -> None:
    rows = real_rows.read_ledger(real_rows.LEDGER)
    assert rows
    assert (ROOT / "docs/evidence/rows.md").read_text(encoding="utf-8") == real_rows.make_page(rows)


@pytest.mark.parametrize(
    ("row", "now", "lost"),
    [(GOLD, "env_error", True), (GOLD, "resolved", False), (NULL, "resolved", True), (NULL, "not_run", True)],
)
def test_a_row_that_was_right_and_is_not_now_is_lost(row: real_rows.Row, now: str, lost: bool) -> None:
    assert bool(real_rows.find_lost([row], [replace(row, outcome=now)])) is lost


def test_a_row_that_was_wrong_before_is_not_lost() -> None:
    assert real_rows.find_lost([replace(GOLD, outcome="env_error")], [replace(GOLD, outcome="not_run")]) == []


def test_the_ledger_keeps_the_last_line_of_each_row_patch_and_commit(tmp_path: Path) -> None:
    ledger = tmp_path / "rows.jsonl"
    later = replace(GOLD, commit="22222222", outcome="not_run")
    real_rows.write_ledger(ledger, [replace(GOLD, outcome="env_error"), NULL, later, GOLD])
    assert real_rows.read_ledger(ledger) == [GOLD, NULL, later]


def test_what_an_interrupted_run_has_saved_is_read(in_folder: Path) -> None:
    rows = make_instances((1, 2))
    file = Path(lines(in_folder, *map(as_row, rows)))
    assert real_rows.read_outcomes(file, rows, "gold", in_folder) == []
    name = real_rows.run_id(file, "gold")
    done = run(in_folder, "evaluate", str(file), "--gold", "--run-id", name, "--runs-dir", ".", "--engine", "fake")
    assert done.code == 0, done.err
    for end in ("verdicts.jsonl", "report.json", "instances/acme__calc-2/verdict.json"):
        (in_folder / name / end).unlink()
    (found,) = real_rows.read_outcomes(file, rows, "gold", in_folder)
    assert (found.instance_id, found.patch, found.outcome) == ("acme__calc-1", "gold", "resolved")


def test_a_row_stays_chosen_that_the_ledger_has_of_its_own_data_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(real_rows, "Sources", lambda _mirrors: SimpleNamespace(exists=lambda _tree: True))
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(f"{json.dumps(as_row(each))}\n" for each in make_instances((1, 2, 3))))
    first, last = (replace(GOLD, instance_id=f"acme__calc-{number}") for number in (1, 3))

    def choose(*ledger: real_rows.Row) -> list[str]:
        return [each.id for each in real_rows.choose_rows(tmp_path, [], ledger)[file]]

    assert choose() == ["acme__calc-2"]
    assert choose(replace(first, dataset="others")) == ["acme__calc-2"]
    assert choose(last, first) == ["acme__calc-3"]
