"""The pages in Chromium, from the server and from disk: nothing hostile runs or loads, and everybody can use them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hostile_run
import many_instances
from assay.harness.runs.control import POLL, listen
from assay.viewer.export import write_pages
from assay.viewer.pages import KINDS
from assay.viewer.runs import Viewer
from browser import Visit, open_browser
from solved_run import MakeRun, Serve

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    with open_browser() as opened:
        yield opened


@pytest.mark.parametrize("place", ["server", "disk"])
def test_hostile_run_runs_nothing_and_loads_nothing(
    place: str, browser: "Browser", tmp_path: Path, serve: Serve
) -> None:
    store = hostile_run.make(tmp_path / "runs/<svg onload=window.hacked=0>")
    viewer = Viewer([store])
    if place == "disk":
        write_pages(viewer, tmp_path / "out")
        visit = Visit(browser, f"file://{tmp_path}/out/")
    else:
        visit = Visit(browser, str(serve(store).base_url))
    every = [kind.make_url(keys) for kind in KINDS for keys in kind.pages(viewer)]
    assert len(every) >= 7
    for path in every:
        page = visit.open(path)
        page.keyboard.press("e")
        page.wait_for_timeout(50)
        assert page.evaluate("window.hacked") is None, path
        assert page.evaluate("document.documentElement.dataset.theme") == "auto", "our own scripts run"
    assert not visit.wrong


def test_page_that_lets_a_script_in_is_stopped_by_the_policy(browser: "Browser", tmp_path: Path) -> None:
    """The second line of defence: what would happen if something were not escaped."""
    write_pages(Viewer([hostile_run.make(tmp_path / "runs/x")]), tmp_path / "out")
    page = tmp_path / "out/index.html"
    page.write_text(
        page.read_text().replace(
            "</main>", "<script>window.hacked=1</script><img src=x onerror=window.hacked=2></main>"
        )
    )
    visit = Visit(browser, f"file://{tmp_path}/out/")
    assert visit.open("index.html").evaluate("window.hacked") is None
    assert any("Content Security Policy" in each for each in visit.wrong)


def shown(page: "Page") -> list[str]:
    return page.locator("#rows tbody tr[data-place] .c-id").all_inner_texts()


def test_table_filters_sorts_and_keeps_its_state_in_the_address(
    browser: "Browser", make_run: MakeRun, serve: Serve
) -> None:
    visit = Visit(browser, str(serve(make_run()).base_url))
    page = visit.open("acme.model/instances.html")
    every = [f"acme__calc-{number}" for number in (1, 2, 3, 4)]
    assert shown(page) == every
    page.select_option("#filter-state", "unresolved")
    assert shown(page) == every[1:2]
    assert page.url.endswith("#state=unresolved")
    page.keyboard.press("Escape")
    page.locator("#clear").click()
    page.locator("#rows tbody tr[data-place]").nth(3).wait_for()
    page.get_by_role("button", name="Instance").click()
    assert shown(page) == every[::-1]
    page.locator("#grid").focus()
    page.keyboard.press("/")
    page.keyboard.type("calc-3")
    assert shown(page) == every[2:3]
    again = visit.open(page.url.removeprefix(visit.base))
    assert shown(again) == every[2:3]
    assert again.locator("#search").input_value() == "calc-3"
    assert "q=calc-3" in again.url
    assert "sort=-id" in again.url
    assert not visit.wrong


def test_table_of_many_rows_has_those_in_view_and_few_others(browser: "Browser", tmp_path: Path, serve: Serve) -> None:
    store = many_instances.make(400, tmp_path)
    visit = Visit(browser, str(serve(store).base_url))
    page = visit.open("many.400/instances.html")
    for keys, last in (("", False), ("G", True)):
        page.keyboard.press(keys) if keys else None
        page.wait_for_timeout(100)
        box = page.locator("#grid").bounding_box()
        assert box is not None
        places = [
            page.evaluate(f"document.elementFromPoint(100, {y}).closest('tr[data-place]')?.dataset.place")
            for y in (box["y"] + 60, box["y"] + box["height"] - 20)
        ]
        assert None not in places, "rows fill the table from its head to its foot"
        assert (places[1] == "399") is last
        assert len(shown(page)) < 80
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert len(shown(page)) == 400
    assert not visit.wrong


def test_keyboard_leads_through_table_and_pages(browser: "Browser", make_run: MakeRun, serve: Serve) -> None:
    visit = Visit(browser, str(serve(make_run()).base_url))
    page = visit.open("acme.model/instances.html#sort=-id")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/acme__calc-3.html")
    page.keyboard.press("j")  # as the table was sorted
    page.wait_for_url("**/acme__calc-2.html")
    page.keyboard.press("k")
    page.wait_for_url("**/acme__calc-3.html")
    page.keyboard.press("o")
    page.wait_for_url("**/acme.model/index.html")
    page.keyboard.press("i")
    page.wait_for_url("**/instances.html")
    page.keyboard.press("?")
    assert page.locator("#shortcuts").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("h")
    page.wait_for_url("**/index.html")
    assert not visit.wrong


def test_colours_follow_the_system_until_they_are_switched(browser: "Browser", make_run: MakeRun, serve: Serve) -> None:
    visit = Visit(browser, str(serve(make_run()).base_url), "dark")

    def ground(page: "Page") -> int:
        return int(page.evaluate("getComputedStyle(document.body).backgroundColor").split("(")[1].split(",")[0])

    page = visit.open("index.html")
    assert ground(page) < 64
    page.keyboard.press("d")
    assert ground(page) > 192
    assert ground(visit.open("acme.model/index.html")) > 192, "the choice holds on the next page"
    assert not visit.wrong


def test_link_into_a_folded_part_opens_it(browser: "Browser", make_run: MakeRun, serve: Serve) -> None:
    visit = Visit(browser, str(serve(make_run()).base_url))
    page = visit.open("acme.model/instances/acme__calc-2.html")
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = false; })")
    page.evaluate("location.hash = 'pass_to_pass'")
    page.wait_for_selector("#pass_to_pass[open]")
    assert not visit.wrong


def test_run_at_work_is_shown_as_it_goes_on_until_it_ends(browser: "Browser", make_run: MakeRun, serve: Serve) -> None:
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import expect

    store = make_run()
    visit = Visit(browser, str(serve(store).base_url))
    with listen(store):
        page = visit.open("acme.model/index.html")
        store.journal("testing", "<b>mine")
        expect(page.locator("#live-work")).to_contain_text("<b>minetesting")
        expect(page.locator("#live-latest a").first).to_have_attribute(
            "href", re.compile(r"/instances/acme__calc-\d.html$")
        )
        assert Axe().run(page).violations_count == 0
    expect(page.locator("#live")).to_have_count(0)
    assert not visit.wrong


def test_button_of_a_controlled_run_works_and_that_of_another_site_does_not(
    browser: "Browser", make_run: MakeRun, serve: Serve, tmp_path: Path
) -> None:
    store = make_run()
    with listen(store) as steering:
        base = str(serve(store, control=True).base_url)
        page = browser.new_page()
        page.goto(f"{base}acme.model/index.html")
        fields = page.eval_on_selector_all("form input[type=hidden]", "all => all.map(each => [each.name, each.value])")
        stolen = "".join(f'<input name="{name}" value="{value}">' for name, value in [*fields, ("order", "pause")])
        other = tmp_path / "other.html"
        other.write_text(f'<form method="post" action="{base}control">{stolen}<button id="go">go</button></form>')
        thief = browser.new_page()
        thief.goto(f"file://{other}")
        thief.click("#go")
        assert "requests of other sites are refused" in thief.content()
        assert not steering.paused
        page.click("button[value=pause]")
        page.wait_for_timeout(1000 * 3 * POLL)
        page.reload()
        assert page.locator("button[value=resume]").count() == 1
        assert steering.paused
