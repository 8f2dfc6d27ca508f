"""The ledger of every row: its page counts by repository, and what a person found stays."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from front_door import run
from rowfiles import lines
from stand_ins import as_row
from toy import make_instances

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import every_row  # noqa: E402
from real_rows import Row, read_ledger, run_id, write_ledger  # noqa: E402

GOLD = Row("a__b-1", "rows", "go", "gold", "resolved", "all pass", 1.5, "11111111", "2026-11-28", build=9, unique=3)
NULL = replace(GOLD, patch="null", outcome="unresolved", reason="1 of 1 unfixed")
ABSENT = replace(
    GOLD, instance_id="a__b-2", outcome="env_error", reason="object 1 of x is not here; its copy is incomplete"
)


def test_the_page_is_made_of_the_ledger() -> None:
    rows = read_ledger(every_row.LEDGER)
    assert rows
    page = (ROOT / "docs/evidence/verified.md").read_text(encoding="utf-8")
    assert page == every_row.make_page(rows)


def test_rows_that_a_mirror_cannot_serve_are_counted_apart() -> None:
    page = every_row.make_page([GOLD, NULL, ABSENT, replace(ABSENT, patch="null")])
    assert "| a/b | 2 | 1 | 1 of 1 | 1 of 1 | 9 | 2 | 0 |" in page


def test_the_page_counts_counter_tests_by_form() -> None:
    page = every_row.make_page([replace(GOLD, counters={"near": 3, "none": 1}), replace(NULL, counters={"near": 9})])
    assert "| near | 3 | 75% |\n| none | 1 | 25% |" in page


@pytest.mark.parametrize(("outcome", "known"), [("resolved", True), ("env_error", False)])
def test_a_row_that_did_not_behave_is_measured_again_where_asked(outcome: str, known: bool) -> None:
    rows = {("a__b-1", "gold"): replace(GOLD, outcome=outcome), ("a__b-1", "null"): NULL}
    assert every_row.is_known("a__b-1", rows, wrong=True) is known
    assert every_row.is_known("a__b-1", rows, wrong=False)


def test_a_cause_stays_while_the_outcome_does(in_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(every_row, "read_sizes", dict)
    rows = make_instances((1, 2))
    file = Path(lines(in_folder, *map(as_row, rows)))
    name = run_id(file, "null")
    assert (
        run(in_folder, "evaluate", str(file), "--null", "--run-id", name, "--runs-dir", ".", "--engine", "fake").code
        == 0
    )
    before = Row(
        rows[0].id, file.stem, "python", "null", "unresolved", "", 0, "1", "2026-11-28", cause="read by a person"
    )
    given = argparse.Namespace(ledger=in_folder / "ledger.jsonl", work=in_folder)
    write_ledger(given.ledger, [before, replace(before, instance_id=rows[1].id, outcome="env_error")])
    every_row.keep(file, rows, given)
    causes = {row.instance_id: row.cause for row in read_ledger(given.ledger) if row.commit != "1"}
    assert causes == {rows[0].id: "read by a person", rows[1].id: ""}
