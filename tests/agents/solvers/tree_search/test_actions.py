"""Actions of the tree search, and their failures."""

from pathlib import Path

import pytest

from assay.agents.sampling.workspaces.folder import folder_workspace
from assay.agents.solvers.tree_search.actions import (
    VIEW_LINES,
    Action,
    ActionKind,
    ActionRunner,
    Failure,
    PassFailCounts,
    SearchState,
    read_action,
)
from solver_sessions import FIX, SHOP, Stage, edit, stage

LONG = {"long.py": "x = 1\n" * (VIEW_LINES + 1)}


@pytest.fixture
def on(tmp_path: Path) -> Stage:
    return stage(tmp_path, [], files={**SHOP, **LONG})


def did(on: Stage, *actions: tuple[ActionKind, str]) -> SearchState:
    bench = ActionRunner(on.session)
    state = bench.root()
    for kind, body in actions:
        state = bench.do(state, Action(kind, body))
    return state


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("First look.\n<view>a.py:1-3</view>", Action(ActionKind.VIEW, "a.py:1-3")),
        ("<finish>\ndone\n</finish>", Action(ActionKind.FINISH, "done")),
        ("<test></test>", Action(ActionKind.TEST, "")),
        ("I would look at a.py.", None),
        ("<view>a.py</view> <view>b.py</view>", None),
        ("<view>a.py", None),
        ("<delete>a.py</delete>", None),
    ],
)
def test_read_action_needs_exactly_one(text: str, action: Action | None) -> None:
    assert read_action(text) == action


@pytest.mark.parametrize(
    ("kind", "body", "failure", "seen"),
    [
        (ActionKind.SEARCH, 'search_class("Bank")', Failure.NO_SEARCH_HITS, "There is no class Bank"),
        (ActionKind.SEARCH, "where is it", Failure.NO_SEARCH_HITS, "no search call"),
        (ActionKind.VIEW, "shop/price.py", Failure.FILE_NOT_FOUND, "There is no file shop/price.py"),
        (ActionKind.VIEW, "long.py", Failure.TOO_MANY_TOKENS, f"{VIEW_LINES + 1} lines"),
        (ActionKind.EDIT, "change it", Failure.MALFORMED, "cannot be read"),
        (ActionKind.EDIT, edit("shop/none.py", "a", "b"), Failure.FILE_NOT_FOUND, "no such file"),
        (
            ActionKind.EDIT,
            edit("shop/prices.py", "    return avg(x)\n    y", "b"),
            Failure.STRING_NOT_FOUND,
            "not found",
        ),
        (ActionKind.EDIT, edit("long.py", "x = 1", "x = 2"), Failure.MULTIPLE_OCCURRENCES, "more than one place"),
        (
            ActionKind.EDIT,
            edit("shop/prices.py", "def total(prices):", "def total(prices):"),
            Failure.NO_CHANGES,
            "change",
        ),
        (ActionKind.EDIT, edit("shop/prices.py", "", "x = 1"), Failure.FILE_EXISTS, "has content"),
        (ActionKind.EDIT, edit("../up.py", "", "x = 1"), Failure.FILE_NOT_FOUND, "out of the repository"),
        (
            ActionKind.EDIT,
            edit("shop/prices.py", "def total(prices):", "def total(:"),
            Failure.INVALID_FILE,
            "not parse",
        ),
        (ActionKind.TEST, "tests/test_none.py", Failure.FILE_NOT_FOUND, "There is no file"),
        (ActionKind.FINISH, "done", Failure.NO_CHANGES, "Nothing has been changed"),
        (ActionKind.NONE, "", Failure.MALFORMED, "no action"),
    ],
)
def test_failed_action_changes_nothing_and_says_why(
    on: Stage, kind: ActionKind, body: str, failure: Failure, seen: str
) -> None:
    state = did(on, (kind, body))
    assert state.failure is failure
    assert seen in state.seen
    assert (state.snapshot, state.patch) == ("base", "")
    assert on.workspace.diff() == ""


def test_search_is_news_once(on: Stage) -> None:
    search = (ActionKind.SEARCH, 'search_method("total")')
    first, second = did(on, search), did(on, search, search)
    assert "return sum(prices[1:])" in first.seen
    assert (first.is_news, second.is_news) == (True, False)


def test_view_shows_some_lines(on: Stage) -> None:
    assert did(on, (ActionKind.VIEW, "shop/prices.py:5-6")).seen == (
        "shop/prices.py, lines 5 to 6:\ndef cheapest(prices):\n    return min(prices)"
    )
    assert did(on, (ActionKind.VIEW, "shop/prices.py:6")).seen.endswith("lines 6 to 6:\n    return min(prices)")
    assert did(on, (ActionKind.VIEW, f"{on.workspace.root}/shop/till.py")).failure is None


def test_edited_code_is_seen_and_searched(on: Stage) -> None:
    state = did(on, (ActionKind.EDIT, FIX), (ActionKind.VIEW, "shop/prices.py:1-2"))
    assert state.seen.endswith("    return sum(prices)")
    assert "+    return sum(prices)" in state.patch
    assert on.workspace.read("shop/prices.py") == b"".join(
        line.encode() for line in SHOP["shop/prices.py"].replace("[1:]", "").splitlines(keepends=True)
    )


def test_new_file_can_be_edited(on: Stage) -> None:
    new = edit("tests/test_total.py", "", "x = 1")
    state = did(on, (ActionKind.EDIT, new), (ActionKind.EDIT, edit("tests/test_total.py", "x = 1", "x = 2")))
    assert state.files == {"tests/test_total.py": "x = 2\n"}


def test_paths_are_isolated(on: Stage) -> None:
    bench = ActionRunner(on.session)
    root = bench.root()
    fixed = bench.do(root, Action(ActionKind.EDIT, FIX))
    other = bench.do(root, Action(ActionKind.EDIT, edit("shop/till.py", "class Till:", "class Box:")))
    assert "prices.py" not in other.patch
    assert "till.py" not in fixed.patch
    bench.restore(fixed.snapshot)
    assert on.workspace.diff() == fixed.patch
    bench.restore("base")
    assert on.workspace.diff() == ""


def test_tests_run_in_their_own_state(on: Stage) -> None:
    breaking = edit("shop/prices.py", "    return min(prices)", "    return max(prices)")
    test = (ActionKind.TEST, "tests/test_prices.py")
    assert did(on, test).tests == PassFailCounts(1, 0)
    broken = did(on, (ActionKind.EDIT, breaking), test)
    assert broken.tests == PassFailCounts(0, 1)
    assert broken.seen == "0 passed, 1 failed.\nfailed: test_cheapest"


def test_workspace_without_tests_says_so(on: Stage, tmp_path: Path) -> None:
    from dataclasses import replace

    bare = replace(on.session, workspace=folder_workspace(tmp_path / "bare", SHOP))
    bench = ActionRunner(bare)
    state = bench.do(bench.root(), Action(ActionKind.TEST, ""))
    assert (state.failure, state.tests) == (None, None)
    assert "cannot be run" in state.seen
