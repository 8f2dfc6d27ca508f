"""Candidates from files: each member's patch is a sample, and the usual selectors choose."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from assay.agents.contract import Oracle, Oracles, SolutionStatus, SolveOutcome
from assay.agents.solvers.best_of.solver import BestOf
from assay.harness.errors import UserError
from solver_sessions import FIX, WORSE, Stage, stage

ID = "town__shop-1"
HEAD = "diff --git a/shop/prices.py b/shop/prices.py\n--- a/shop/prices.py\n+++ b/shop/prices.py\n"
CHANGE = HEAD + "@@ -1,3 +1,3 @@\n def total(prices):\n-    return sum(prices[1:])\n+    return {}\n \n"
RIGHT, WRONG = CHANGE.format("sum(prices)"), CHANGE.format("3")
ELSEWHERE = RIGHT.replace("prices[1:]", "prices[2:]")


def write(folder: Path, model: str, patch: str | None, name: str = ID) -> str:
    path = folder / f"{model}.jsonl"
    row = {"instance_id": name, "model_name_or_path": model, "model_patch": patch}
    path.write_text(json.dumps(row) + "\n")
    return str(path)


def choose(on: Stage, *sources: str, **settings: object) -> SolveOutcome:
    session = replace(on.session, oracles=Oracles(instance_id=ID))
    return make(*sources, **settings).solve(session)


def make(*sources: str, **settings: object) -> BestOf:
    given = {"rankings": 0, "selector": "vote", "candidates": ",".join(sources), **settings}
    return BestOf(BestOf.Settings.model_validate(given))


def test_equal_changes_of_members_vote_and_the_text_of_one_is_the_answer(tmp_path: Path) -> None:
    commented = RIGHT.replace("sum(prices)\n", "sum(prices)  # all\n")
    members = [write(tmp_path, "a", WRONG), write(tmp_path, "b", commented), write(tmp_path, "c", RIGHT)]
    outcome = choose(stage(tmp_path, []), *members)
    assert [(each.source, each.votes) for each in outcome.candidates] == [("a", 1), ("b", 2), ("c", 2)]
    assert outcome.patch == RIGHT


def test_a_patch_that_does_not_apply_or_is_empty_or_missing_is_never_chosen(tmp_path: Path) -> None:
    other = write(tmp_path, "other", RIGHT, name="town__shop-2")
    members = [write(tmp_path, "a", ELSEWHERE), write(tmp_path, "b", ""), write(tmp_path, "c", WRONG), other]
    outcome = choose(stage(tmp_path, []), *members)
    assert [(each.source, each.reason) for each in outcome.candidates] == [
        ("a", "the patch does not apply"),
        ("b", "the patch is empty"),
        ("c", ""),
    ]
    assert outcome.patch == WRONG


def test_an_instance_that_no_member_tried_is_empty_with_the_reason(tmp_path: Path) -> None:
    outcome = choose(stage(tmp_path, []), write(tmp_path, "a", RIGHT, name="town__shop-2"))
    assert (outcome.status, outcome.error) == (
        SolutionStatus.EMPTY,
        "no source of candidates has a patch for this instance",
    )


def test_machines_select_among_members_as_among_samples(tmp_path: Path) -> None:
    test = "<test>\nfrom shop.prices import total\nraise SystemExit(0 if total([1, 2, 3]) == 6 else 2)\n</test>"
    members = [write(tmp_path, "a", WRONG), write(tmp_path, "b", RIGHT)]
    chosen = "<chosen_candidate_fix_id>1</chosen_candidate_fix_id>"
    on = stage(tmp_path, [test, chosen])
    outcome = choose(on, *members, selector="machine")
    assert outcome.extra["selection"] == {"finalists": ["a", "b"], "choice": "1"}
    assert outcome.patch == RIGHT
    assert on.purposes() == ["select"] * 2


def test_generated_tests_vote_on_members(tmp_path: Path) -> None:
    test = "<test>\nfrom shop.prices import total\nraise SystemExit(0 if total([1, 2, 3]) == 6 else 2)\n</test>"
    members = [write(tmp_path, "a", WRONG), write(tmp_path, "b", RIGHT)]
    outcome = choose(stage(tmp_path, [test, "<done/>"]), *members, tests=1)
    assert [each.votes for each in outcome.candidates] == [0, 1]


def test_members_of_one_model_are_named_for_their_files(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    sources = [write(tmp_path, "m", RIGHT), write(tmp_path / "one", "m", WRONG)]
    assert [each.source for each in choose(stage(tmp_path, []), *sources).candidates] == sources


def test_a_model_is_needed_only_where_one_chooses_or_tests(tmp_path: Path) -> None:
    member = write(tmp_path, "a", RIGHT)
    assert not make(member).capabilities.needs_model
    assert not make(member, selector="tests").capabilities.needs_model
    assert make(member, tests=2).capabilities.needs_model
    assert make(member, selector="machine").capabilities.needs_model


def test_members_need_the_instance_and_their_content_is_the_solvers_version(tmp_path: Path) -> None:
    before = make(write(tmp_path, "a", RIGHT))
    after = make(write(tmp_path, "a", WRONG))
    assert before.capabilities.oracle == {Oracle.INSTANCE_ID}
    assert before.version != after.version


def test_two_sources_of_samples_and_missing_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="give one of them"):
        make(write(tmp_path, "a", RIGHT), inner="retrieval")
    with pytest.raises(UserError, match="nothing"):
        make(str(tmp_path / "nothing.jsonl"))


def test_fix_and_worse_are_what_the_members_say(tmp_path: Path) -> None:
    """The patches above are the edits that the other tests of this solver use."""
    on = stage(tmp_path, [FIX, "<done/>", WORSE, "<done/>"])
    settings = {"rankings": 0, "samples": 2, "tests": 0, "selector": "vote"}
    outcome = BestOf(BestOf.Settings.model_validate(settings)).solve(on.session)
    keys = [each.key for each in outcome.candidates]
    members = [write(tmp_path, "a", RIGHT), write(tmp_path, "b", WRONG)]
    assert [each.key for each in choose(stage(tmp_path / "again", []), *members).candidates] == keys
