"""Comparisons, trajectories and findings in Chromium."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import hostile_run
import hostile_solver
from assay.harness.domain import (
    Divergence,
    GeneratorResult,
    Outcome,
    PatchDiffFinding,
    PatchDiffResult,
    ProbeObservation,
)
from assay.harness.runs.saved import SavedPatchDiff
from assay.harness.runs.store import RunStore
from assay.viewer.export import write_pages
from assay.viewer.runs import Viewer
from browser import SCHEMES, Visit, open_browser
from solved_run import ID, MakeRun, Serve

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
PATHS = (
    "index.html",
    "compare/all.html",
    f"compare/all/{ID}.html",
    "acme.evaluated/index.html",
    "acme.evaluated/instances.html",
    f"acme.evaluated/instances/{ID}.html",
    "acme.evaluated/findings.html",
    f"acme.evaluated/findings/{ID}.html",
    "acme/index.html",
    f"acme/trajectories/{ID}/0.html",
)


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    with open_browser() as opened:
        yield opened


def worse(store: RunStore) -> RunStore:
    """Let a run resolve nothing."""
    verdicts = [saved.verdict.model_copy(update={"outcome": Outcome.UNRESOLVED}) for saved in store.load_verdicts()]
    store.save_report(store.summarise(verdicts), verdicts)
    return store


@pytest.fixture
def stores(make_run: MakeRun, solved: MakeRun) -> list[RunStore]:
    """A solver's run, the run that judges it with a comparison with gold, and two other runs."""
    judged, other = make_run("acme.evaluated"), worse(make_run("other.evaluated", "other"))
    sides = ("base", "gold", "candidate")
    value: Any = {side: ProbeObservation(kind="value", type="int", text=side) for side in sides}
    divergence = Divergence(
        finding=PatchDiffFinding.DIVERGENT,
        generator="amplify",
        probe="p1",
        target="add",
        confirmed=20,
        reproduction="test_1.py",
        **value,
    )
    result = PatchDiffResult(
        instance_id=ID,
        finding=PatchDiffFinding.DIVERGENT,
        divergences=(divergence, divergence),
        generators=(GeneratorResult(name="amplify", probes=20, reached=20, divergences=2),),
        targets=("calc.py::add",),
    )
    judged.save_patchdiff(SavedPatchDiff(key="0", comparison=result), {"test_1.py": "def test_add():\n    assert 1\n"})
    return [judged, other, make_run("third", "third"), solved(times=12), solved("other", cost=1.0)]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_page_passes_axe(scheme: str, browser: "Browser", stores: list[RunStore], serve: Serve) -> None:
    from axe_playwright_python.sync_playwright import Axe

    visit = Visit(browser, str(serve(*stores).base_url), scheme)
    for path in PATHS:
        page = visit.open(path)
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        found = Axe().run(page)
        assert found.violations_count == 0, (path, found.generate_report())
    assert not visit.wrong


@pytest.mark.parametrize("width", [400, 1280])
def test_no_page_is_wider_than_its_window(width: int, browser: "Browser", stores: list[RunStore], serve: Serve) -> None:
    visit = Visit(browser, str(serve(*stores).base_url), width=width)
    for path in PATHS:
        assert visit.open(path).evaluate("document.documentElement.scrollWidth") <= width, path


@pytest.mark.parametrize("place", ["server", "disk"])
def test_hostile_solver_and_comparison_run_nothing_and_load_nothing(
    place: str, browser: "Browser", tmp_path: Path, serve: Serve
) -> None:
    judged, other = (hostile_run.make(tmp_path / "runs" / name) for name in ("acme.evaluated", "<svg onload=x>"))
    hostile_solver.add_comparison(judged, "acme__calc-0")
    stores = [judged, other, hostile_solver.make(tmp_path / "runs/acme", "acme__calc-0")]
    if place == "disk":
        write_pages(Viewer(stores), tmp_path / "out")
        visit = Visit(browser, f"file://{tmp_path}/out/")
    else:
        visit = Visit(browser, str(serve(*stores).base_url))
    for path in PATHS:
        page = visit.open(path.replace(ID, "acme__calc-0"))
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        page.keyboard.press("E")
        page.wait_for_timeout(50)
        assert page.evaluate("window.hacked") is None, path
        assert page.evaluate("document.documentElement.dataset.theme") == "auto", "our own scripts run"
    assert not visit.wrong


def current(page: "Page") -> str:
    return str(page.evaluate("location.hash"))


def test_keyboard_goes_from_step_to_step_and_each_has_an_address(
    browser: "Browser", stores: list[RunStore], serve: Serve
) -> None:
    visit = Visit(browser, str(serve(*stores).base_url))
    page = visit.open(f"acme/trajectories/{ID}/0.html")
    for key, expected in (("j", 1), ("j", 2), ("k", 1), ("k", 1), ("G", 13), ("j", 13), ("g", 1)):
        page.keyboard.press(key)
        assert current(page) == f"#step-{expected}", key
    again = visit.open(f"acme/trajectories/{ID}/0.html#step-9")
    assert again.locator("#step-9").evaluate("(each) => each.matches(':target')")
    assert again.locator("#step-9").evaluate("(each) => each.getBoundingClientRect().top") < 900
    again.locator("rect[data-step='5']").first.click()
    assert current(again) == "#step-5"
    assert not visit.wrong


def test_sign_of_an_empty_line_is_in_its_line(browser: "Browser", make_run: MakeRun, serve: Serve) -> None:
    store = make_run()
    patch = "--- a/b.py\n+++ b/b.py\n@@ -1,3 +1,3 @@\n one\n-\n+\n two\n"
    (store.root / "instances/acme__calc-2/patch.diff").write_text(patch)
    page = Visit(browser, str(serve(store).base_url)).open("acme.model/instances/acme__calc-2.html")
    lines = page.locator(".diff").first.locator("tr:not(.section)")
    heights = {round(lines.nth(number).evaluate("(each) => each.offsetHeight")) for number in range(4)}
    assert len(heights) == 1
    top = "(each) => getComputedStyle(each.querySelector('.source'), '::before').top"
    assert [lines.nth(number).evaluate(top) for number in (1, 2)] == ["0px", "0px"]


def test_step_opens_and_closes_with_a_key(browser: "Browser", tmp_path: Path, serve: Serve) -> None:
    store = hostile_solver.make(tmp_path / "runs/acme", ID)
    page = Visit(browser, str(serve(store).base_url)).open(f"acme/trajectories/{ID}/0.html")
    folded = "document.querySelectorAll('#step-1 details.fold:not([open])').length"
    before = page.evaluate(folded)
    assert before
    page.keyboard.press("j")
    page.keyboard.press("e")
    assert page.evaluate(folded) == 0
    page.keyboard.press("e")
    assert page.evaluate(folded) == before


def test_any_runs_can_be_chosen(browser: "Browser", make_run: MakeRun, serve: Serve) -> None:
    stores = [make_run(f"acme.{name}", name) for name in "abc"]
    visit = Visit(browser, str(serve(*stores).base_url))
    page = visit.open("index.html")
    page.get_by_text("Choose runs").click()
    page.get_by_label("acme.a").check()
    assert page.locator("#compare").is_disabled(), "one run is no comparison"
    page.get_by_label("acme.c").check()
    page.locator("#compare").click()
    page.wait_for_url("**/compare/acme.a+acme.c.html")
    assert page.locator("h1").inner_text() == "2 runs compared"
    assert not visit.wrong


def test_written_pages_offer_no_choice_that_they_do_not_have(make_run: MakeRun, tmp_path: Path) -> None:
    write_pages(Viewer([make_run(f"acme.{name}", name) for name in "abc"]), tmp_path / "out")
    assert "Choose runs" not in (tmp_path / "out/index.html").read_text()


def wait_for_rows(page: "Page", names: list[str]) -> None:
    from playwright.sync_api import expect

    expect(page.locator("#matrix tbody th")).to_have_text(names)


def test_comparison_shows_where_runs_differ_and_keeps_its_state_in_the_address(
    browser: "Browser", make_run: MakeRun, serve: Serve
) -> None:
    stores = [make_run("acme.a", "a"), worse(make_run("acme.b", "b"))]
    visit = Visit(browser, str(serve(*stores).base_url))
    page = visit.open("compare/all.html")
    every = [f"acme__calc-{number}" for number in (1, 2, 3)]
    wait_for_rows(page, every[:1])
    page.keyboard.press("x")
    wait_for_rows(page, every)
    page.get_by_role("link", name="1 instance that only a").click()
    wait_for_rows(page, every[:1])
    page.get_by_role("button", name="Instance").click()
    page.locator("#show").select_option("none")
    wait_for_rows(page, every[1:])
    page.get_by_role("button", name="Instance").click()
    wait_for_rows(page, every[:0:-1])
    page.keyboard.press("/")
    page.keyboard.type("CALC-2")
    wait_for_rows(page, every[1:2])
    again = visit.open(page.url.removeprefix(visit.base))
    wait_for_rows(again, every[1:2])
    assert again.locator("#count").inner_text() == "1 of 3 instances"
    again.locator("#matrix tbody td a").nth(1).click()
    again.wait_for_url("**/acme.b/instances/acme__calc-2.html")
    again.keyboard.press("b")
    again.wait_for_url("**/compare/all/acme__calc-2.html")
    for key, name in (("w", "Wrap lines"), ("W", "Full width")):
        again.keyboard.press(key)
        again.reload()
        assert again.get_by_role("button", name=name).get_attribute("aria-pressed") == "true", "the choice holds"
    assert not visit.wrong
