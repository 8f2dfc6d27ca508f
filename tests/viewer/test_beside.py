import pytest

from assay.harness.runs.store import RunStore
from assay.viewer import beside
from assay.viewer.beside import COLUMNS, BesideView, view
from assay.viewer.pages import Pages
from assay.viewer.runs import Viewer
from markup import text
from solved_run import MakeRun
from toy import GOLD

WRONG = GOLD.replace("a + b", "a * b")


def put_patch(store: RunStore, number: int, patch: str) -> RunStore:
    (store.root / f"instances/acme__calc-{number}/patch.diff").write_text(patch)
    return store


def show_beside(viewer: Viewer, number: int = 2, runs: str = "all") -> BesideView:
    found = view(viewer, {"runs": runs, "instance": f"acme__calc-{number}"})
    assert found is not None
    return found


def test_patches_verdicts_and_failing_tests_are_beside_gold(make_run: MakeRun) -> None:
    viewer = Viewer([make_run("rows.a"), put_patch(make_run("rows.b"), 2, WRONG)])
    found = show_beside(viewer)
    assert [(each.name, str(each.judgement.verdict.outcome)) for each in found.attempts] == [
        ("a", "unresolved"),
        ("b", "unresolved"),
    ]
    assert found.columns == ("a", "b", "gold")
    assert [(file.path, *map(bool, file.sides)) for file in found.files] == [
        ("calc.py", False, True, True),
        ("b.py", True, False, False),
    ]
    (test,) = found.tests
    assert [(test.name, result and result.status) for result in test.results] == [(test.name, "failed")] * 2
    page = text(Pages(viewer).find_html("compare/all/acme__calc-2.html") or "")
    assert "acme__calc-2 in 2 runs, beside gold" in " ".join(page.split())


def test_patch_that_is_the_same_as_another_is_shown_once(make_run: MakeRun) -> None:
    found = show_beside(Viewer([make_run("a"), make_run("b")]), 1)
    assert [each.same_as for each in found.attempts] == ["gold", "gold"]
    assert found.columns == ("gold",)
    same = show_beside(Viewer([make_run("a"), make_run("b")]))
    assert [each.same_as for each in same.attempts] == ["", "a"]
    empty = show_beside(Viewer([make_run("a"), make_run("b")]), 3)
    assert [(each.same_as, each.patch.is_empty) for each in empty.attempts] == [("", True)] * 2
    assert empty.tests == (), "no test ran"


def test_many_runs_have_a_line_each_and_the_first_a_column(make_run: MakeRun) -> None:
    found = show_beside(Viewer([make_run(f"run{number}") for number in range(COLUMNS + 2)]))
    assert (len(found.attempts), len(found.first)) == (COLUMNS + 2, COLUMNS)
    assert len(found.tests[0].results) == COLUMNS


@pytest.mark.parametrize(("runs", "number"), [("a", "1"), ("a+b", "4"), ("a+nobody", "1"), ("all", "../x"), ("", "1")])
def test_instance_that_two_runs_have_not_judged_has_no_page(runs: str, number: str, make_run: MakeRun) -> None:
    viewer = Viewer([make_run("a"), make_run("b")])
    assert view(viewer, {"runs": runs, "instance": f"acme__calc-{number}"}) is None
    assert {keys["instance"] for keys in beside.pages(viewer)} == {f"acme__calc-{each}" for each in (1, 2, 3)}


def test_comparison_and_instance_lead_to_the_page(make_run: MakeRun, judged: MakeRun) -> None:
    viewer = Viewer([make_run("a"), make_run("b"), judged("alone", "+", dataset="other")])
    pages = Pages(viewer)
    assert '"beside":"../compare/all/ID.html"' in (pages.find_html("compare/all.html") or "")
    page = pages.find_html("a/instances/acme__calc-2.html") or ""
    assert 'href="../../compare/all/acme__calc-2.html"' in page
    assert 'href="../../b/instances/acme__calc-2.html" class="state unresolved"' in page
    assert "Beside the other runs" not in (pages.find_html("alone/instances/acme__calc-0.html") or "")
