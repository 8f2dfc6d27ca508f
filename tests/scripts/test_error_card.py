"""The error card: what counts as tried and as wrong, and that page and card say what the ledger says."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import card_page  # noqa: E402
import error_card  # noqa: E402

HOSTILE = error_card.Result(
    "13-x", "corpus", "python", "pytest", "hostile", "tampered", "0" * 12, "1" * 8, "2026-11-28"
)
HONEST = replace(HOSTILE, case="01-gold", kind="honest", outcome="resolved")


@pytest.mark.parametrize(
    ("result", "outcome", "tried", "wrong"),
    [
        (HOSTILE, "tampered", 1, 0),
        (HOSTILE, "not_run", 1, 0),
        (HOSTILE, "resolved", 1, 1),
        (HOSTILE, "infra_error", 0, 0),
        (HONEST, "resolved", 1, 0),
        (HONEST, "not_run", 1, 1),
        (HONEST, "env_error", 0, 0),
    ],
)
def test_a_patch_is_counted_by_kind_and_verdict(
    result: error_card.Result, outcome: str, tried: int, wrong: int
) -> None:
    found = card_page.count([replace(result, outcome=outcome)])[result.kind]
    assert (found["tried"], found["wrong"], found["not_judged"]) == (tried, wrong, 1 - tried)


def test_bounds_are_exact() -> None:
    hostile = [replace(HOSTILE, case=str(number)) for number in range(300)]
    found = card_page.count(hostile)["hostile"]
    assert (found["low"], found["high"]) == (0.0, round(1 - 0.025 ** (1 / 300), 4))


def test_page_and_card_say_what_the_ledger_says() -> None:
    results = error_card.read_ledger(error_card.LEDGER)
    assert card_page.make_figures(results) in card_page.PAGE.read_text(encoding="utf-8"), "run error_card.py write"
    assert json.loads(card_page.CARD.read_text(encoding="ascii")) == card_page.make_card(results)


def test_card_counts_at_least_300_patches_of_each_kind() -> None:
    card = json.loads(card_page.CARD.read_text(encoding="ascii"))
    assert min(card[kind]["tried"] for kind in card_page.KINDS) >= 300


def test_figures_go_between_the_marks_of_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# Head\n\n{card_page.BEGIN}old\n\n{card_page.END}\ntail\n")
    card_page.replace_figures(page, "new\n\n")
    assert page.read_text() == f"# Head\n\n{card_page.BEGIN}new\n\n{card_page.END}\ntail\n"


def test_no_patch_is_listed_twice_for_an_instance() -> None:
    cases = error_card.list_cases()
    found = {(each.language, each.instance, each.row and each.row.tests, error_card.make_patch(each)) for each in cases}
    assert len({each.id for each in cases}) == len(cases)
    assert len(found) > len(cases) - 5, "rows may differ in more than their tests"


def test_a_known_limit_is_hostile_unless_it_says_that_it_is_honest() -> None:
    kinds = {each.number: each.kind for each in error_card.list_cases()}
    assert (kinds["01"], kinds["13"], kinds["35"]) == ("honest", "hostile", "hostile")
    assert (kinds["80be"], kinds["80bdp"]) == ("hostile", "honest")
