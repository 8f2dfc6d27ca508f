"""The crash test: triples survive their files, and a harness is judged only by rows that it can judge."""

import sys
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import crash_page  # noqa: E402
import crash_test  # noqa: E402
import triples  # noqa: E402

from corpus.model import corpus  # noqa: E402

GOLD = crash_test.Result("swebench", "01-gold", "honest", "calc", "gold", "resolved", "", "5.0.2", "2026-11-28")
NULL = replace(GOLD, triple="2-null-calc", kind="null", control="null", outcome="unresolved")
ATTACK = replace(GOLD, triple="13-x", kind="hostile", control="", outcome="resolved")


def test_triples_survive_their_files(tmp_path: Path) -> None:
    cases = triples.list_playable()
    rows = {"calc": {"patch": "", "FAIL_TO_PASS": ["a"]}}
    tree = triples.Repository(files=dict(corpus().projects["python"].files), links={"link": "/tmp"})
    made = tuple(map(triples.make_triple, cases))
    collection = triples.Collection(repositories={"acme/calc-python": tree}, rows=rows, triples=made)
    triples.write(collection, tmp_path)
    assert triples.read(tmp_path) == collection
    assert any("\ud800" in each.patch for each in made), "what UTF-8 cannot hold survives, too"


def test_triples_are_at_least_60_of_each_kind_and_need_no_limits() -> None:
    cases = triples.list_playable()
    kinds = [each.kind for each in cases]
    assert min(kinds.count("hostile"), kinds.count("honest")) >= 60
    assert not [each.id for each in cases if each.limits or each.group == "resource"]


def test_a_hostile_patch_that_is_resolved_is_wrong() -> None:
    assert crash_page.count([GOLD, NULL, ATTACK], "hostile") == crash_page.Line(1, 1, 0, 0)
    assert crash_page.count([GOLD, NULL, ATTACK], "honest") == crash_page.Line(1, 0, 0, 0)


def test_an_error_is_no_resolved_patch() -> None:
    results = [GOLD, NULL, replace(ATTACK, outcome="error"), replace(ATTACK, kind="honest", outcome="error")]
    assert crash_page.count(results, "hostile") == crash_page.Line(1, 0, 1, 0)
    assert crash_page.count(results, "honest") == crash_page.Line(2, 1, 1, 0)


def test_a_row_that_the_harness_cannot_judge_is_not_run() -> None:
    for control in (replace(GOLD, outcome="unresolved"), replace(NULL, outcome="resolved")):
        rest = NULL if control.control == "gold" else GOLD
        assert crash_page.count([control, rest, ATTACK], "hostile") == crash_page.Line(0, 0, 0, 1)
    assert crash_page.count([GOLD, ATTACK], "hostile").not_run == 1, "without a control nothing is known"


def test_page_says_what_the_ledger_says() -> None:
    figures = crash_page.make_figures(crash_test.read_ledger(crash_test.LEDGER))
    assert figures in crash_page.PAGE.read_text(encoding="utf-8"), "run crash_test.py write"


def test_a_task_of_harbor_applies_the_patch_and_runs_the_hidden_tests(tmp_path: Path) -> None:
    triple = triples.make_triple(triples.list_playable()[0])
    row = {"image": "calc", "base_commit": "abc", "test_command": "pytest -rA", "test_patch": "+++ b/tests/t.py\n"}
    crash_test.write_task(tmp_path, triple, row)
    assert (tmp_path / "solution/model.patch").read_text() == triple.patch
    script = (tmp_path / "tests/test.sh").read_text()
    assert "git checkout abc tests/t.py" in script
    assert "if pytest -rA; then" in script
