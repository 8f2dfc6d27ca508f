"""Two people answer all questions about a run in Chromium, with the keyboard; a screen reads what they say."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import annotated
from assay.jobs.annotate import Annotator
from browser import Visit, open_browser
from front_door import run
from solved_run import Serve

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
COUNT = 20


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    with open_browser() as opened:
        yield opened


def answer(visit: Visit, verdicts: str, tests: str) -> None:
    """Answer every question: the digits for the tests of each instance, then those of the verdicts."""
    page = visit.open("judged/annotate.html")
    page.keyboard.press("n")
    count = len(verdicts)
    for number in range(2 * count):
        keys = f"1{tests[number]}02" if number < count else verdicts[number - count]
        page.get_by_text(f"{number % count + 1} of {count}", exact=True).wait_for()
        page.locator("fieldset:focus").wait_for()
        for key in keys:
            page.keyboard.press(key)
        page.keyboard.press("Enter")
    page.wait_for_url("**/judged/annotate.html")
    assert "All have an answer" in page.inner_text("main")


def test_digits_answer_and_enter_leads_on(browser: "Browser", in_folder: Path, serve: Serve) -> None:
    store = annotated.make_run(in_folder / "runs", 2)
    visit = Visit(browser, str(serve(store, annotator=Annotator(Path("anna.jsonl"))).base_url))
    answer(visit, "24", "03")
    assert not visit.wrong
    found = [json.loads(line) for line in Path("anna.jsonl").read_text().splitlines()]
    assert [(each["tests"], each["difficulty"]) for each in found[:2]] == [
        (0, "15 min - 1 hour"),
        (3, "15 min - 1 hour"),
    ]
    assert [each["verdict"] for each in found[2:]] == ["partial", "right"]


@pytest.mark.exhaustive
def test_answers_of_two_people_are_made_merged_and_used(browser: "Browser", in_folder: Path, serve: Serve) -> None:
    store = annotated.make_run(in_folder / "runs", COUNT)
    answers = {
        "anna": ("22224444555511133333", "0" * 15 + "2" * 5),
        "ben": ("22224444555544433333", "0" * 12 + "2" * 8),
    }
    for name, (verdicts, tests) in answers.items():
        visit = Visit(browser, str(serve(store, annotator=Annotator(Path(f"{name}.jsonl"))).base_url))
        answer(visit, verdicts, tests)
        assert not visit.wrong
        assert len(Path(f"{name}.jsonl").read_text().splitlines()) == 2 * COUNT
    done = run(in_folder, "report", "agree", "anna.jsonl", "ben.jsonl", "-o", "people.jsonl", "--json")
    found = {each["scale"]: each for each in json.loads(done.out)["agreement"]}
    assert {(each["n"], tuple(each["people"])) for each in found.values()} == {(COUNT, ("anna", "ben"))}
    assert found["tests"]["kappa"]["estimate"] == pytest.approx((0.85 - (0.75 * 0.6 + 0.25 * 0.4)) / 0.45)
    assert found["verdict"]["agreed"] == 17
    assert found["clarity"]["kappa"] is None, "both gave one answer only"
    screened = json.loads(run(in_folder, "report", "screen", "judged", "--people", "people.jsonl", "--json").out)
    reproaches = {name: each["resolved"] for name, each in screened["reproaches"].items()}
    assert reproaches == {"leaked": 0, "refuted": 9, "suspicious": 7, "undetermined": 0, "unclear": 0, "unfair": 8}
    assert (screened["annotated"], screened["adjudicated"]) == (COUNT, COUNT)
    assert screened["together"]["resolved"] == 16, "four are right by both people, and no longer suspicious"
