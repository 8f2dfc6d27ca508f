"""Questions for a person as pages, and the answers that they send."""

import re
from pathlib import Path

import httpx
import pytest

import annotated
from annotated import PATCH
from assay.harness.errors import UserError
from assay.harness.files import json_lines
from assay.harness.metrics.annotations import Difficulty, DivergenceAnnotation, InstanceAnnotation
from assay.harness.runs.store import RunStore
from assay.jobs.annotate import Annotator, read_annotations
from assay.viewer.export import every_page, write_pages
from assay.viewer.pages import Pages
from assay.viewer.runs import Viewer
from assay.viewer.server import ViewServer
from markup import HOSTILE, PLAIN, structure, text
from solved_run import Serve

GRADED = {"clarity": "1", "tests": "2", "other": "1", "difficulty": "1-4 hours", "note": " a gap "}
NAMES = ("judged/annotate.html", "judged/annotate/acme__calc-1.html", "judged/annotate/acme__calc-1/1.html")


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return annotated.make_run(tmp_path / "runs", 2)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "anna.jsonl"


@pytest.fixture
def client(store: RunStore, file: Path, serve: Serve) -> httpx.Client:
    return serve(store, annotator=Annotator(file))


def send(client: httpx.Client, page: str, **answers: str) -> httpx.Response:
    """Send a page's form with answers, as a browser does."""
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', client.get(page).text))
    return client.post("/annotate", data=hidden | answers, headers={"Origin": str(client.base_url).rstrip("/")})


def test_answers_go_to_the_file_and_lead_to_the_next_open_question(client: httpx.Client, file: Path) -> None:
    answer = send(client, NAMES[1], **GRADED)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/judged/annotate/acme__calc-2.html")
    answer = send(client, "judged/annotate/acme__calc-2.html", **GRADED | {"clarity": "0"})
    assert answer.headers["Location"] == "/judged/annotate/acme__calc-1/1.html", "then the differences"
    answer = send(client, NAMES[2], verdict="partial", pattern="absent")
    assert answer.headers["Location"] == "/judged/annotate/acme__calc-2/1.html"
    answer = send(client, "judged/annotate/acme__calc-2/1.html", verdict="right", pattern="")
    assert answer.headers["Location"] == "/judged/annotate.html"
    one, _, three, four = read_annotations(file)
    assert isinstance(one, InstanceAnnotation)
    assert (one.by, one.clarity, one.tests, one.other, one.note) == (("anna",), 1, 2, True, "a gap")
    assert one.difficulty is Difficulty.HOURS
    assert isinstance(three, DivergenceAnnotation)
    assert isinstance(four, DivergenceAnnotation)
    assert (three.subject, three.verdict) == (("acme__calc-1", PATCH, "amplify", "test_add:1"), "partial")
    assert (three.pattern, four.pattern) == ("absent", None)
    page = text(client.get(NAMES[0]).text)
    assert "All have an answer" in page
    assert "issue 1, tests 2, 1-4 hours: unsound" in page


def test_a_page_has_all_that_the_question_is_about_and_the_answer_so_far(client: httpx.Client) -> None:
    grades, verdict = (text(client.get(name).text) for name in NAMES[1:])
    assert "add subtracts" in grades
    assert "tests/test_calc.py::test_add" in grades
    assert "This patch" not in grades, "an instance is graded without looking at a patch"
    for part in ("add subtracts", "This patch", "Gold patch", "assert calc.add(1, 2) == 3", "base commit", "calc.py"):
        assert part in verdict
    send(client, NAMES[2], verdict="unrelated", note="see <there>")
    again = client.get(NAMES[2]).text
    assert 'value="unrelated" data-digit="3" checked' in again
    assert "see <there>" in text(again)
    assert "anna, answered before" in text(again)


@pytest.mark.parametrize(
    ("page", "answers", "problem"),
    [
        (NAMES[1], {"clarity": "1"}, "field tests: is missing"),
        (NAMES[1], GRADED | {"clarity": "9"}, "field clarity"),
        (NAMES[1], GRADED | {"difficulty": "soon"}, "field difficulty"),
        (NAMES[1], GRADED | {"instance": "acme__calc-9"}, "there is no such instance"),
        (NAMES[1], GRADED | {"instance": "../x"}, "there is no such instance"),
        (NAMES[2], {"verdict": "fine"}, "field verdict"),
        (NAMES[2], {"verdict": "right", "number": "2"}, "there is no such instance"),
        (NAMES[2], {"verdict": "right", "number": "-1"}, "there is no such instance"),
    ],
)
def test_a_wrong_answer_is_one_line_and_is_not_kept(
    page: str, answers: dict[str, str], problem: str, client: httpx.Client, file: Path
) -> None:
    answer = send(client, page, **answers)
    assert answer.status_code == 409
    assert problem in answer.text
    assert not file.exists()


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Host": "evil.example", "Origin": "http://evil.example"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
        {"Sec-Fetch-Site": "same-site"},
        {},
    ],
)
def test_an_answer_that_another_site_sends_is_refused(
    headers: dict[str, str], client: httpx.Client, file: Path
) -> None:
    page = client.get(NAMES[1]).text
    form = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page)) | GRADED
    own = {"Origin": str(client.base_url).rstrip("/")} if headers else {}
    assert client.post("/annotate", data=form, headers=own | headers).status_code == 403
    for token in ("", "guessed"):
        assert send(client, NAMES[1], **GRADED, token=token).status_code == 403
    assert not file.exists()


def test_nothing_else_becomes_writable(client: httpx.Client, store: RunStore, file: Path, serve: Serve) -> None:
    before = {path: path.read_bytes() for path in store.root.parent.rglob("*") if path.is_file()}
    own = {"Origin": str(client.base_url).rstrip("/")}
    assert client.post("/control", data={"run": "judged", "order": "stop"}, headers=own).status_code == 400
    assert client.post("/judged/annotate.html", data={"run": "judged"}, headers=own).status_code == 400
    send(client, NAMES[1], **GRADED)
    assert {path: path.read_bytes() for path in store.root.parent.rglob("*") if path.is_file()} == before
    assert [path.name for path in file.parent.iterdir() if path.is_file()] == ["anna.jsonl"]
    for other in (serve(store), serve(store, control=True)):
        assert [other.get(name).status_code for name in NAMES] == [404] * 3
        answer = other.post("/annotate", data=GRADED, headers={"Origin": str(other.base_url).rstrip("/")})
        assert answer.status_code in {400, 501}
    with pytest.raises(UserError, match="exclude each other"):
        ViewServer(Viewer([], Annotator(file)), host="0.0.0.0", token="secret")


def test_no_question_is_written_to_the_disk(store: RunStore, file: Path, tmp_path: Path) -> None:
    write_pages(Viewer([store], Annotator(file)), tmp_path / "out")
    assert not [*(tmp_path / "out").rglob("*annotate*.html")]
    assert not {"annotate", "grade", "judge"} & {kind.name for kind, _ in every_page(Viewer([store], Annotator(file)))}


@pytest.mark.parametrize("name", NAMES)
def test_hostile_answers_and_names_change_nothing_of_a_page(name: str, store: RunStore, tmp_path: Path) -> None:
    def page(word: str) -> str:
        path = tmp_path / f"{'hostile' if word == HOSTILE else 'plain'}{word[:2].replace('/', '')}.jsonl"
        answers = [annotated.grade(1, path.stem, note=word), annotated.judge(1, "right", path.stem, note=word)]
        path.write_bytes(json_lines(answers))
        html = Pages(Viewer([store], Annotator(path)), is_served=True).find_html(name)
        assert html is not None
        return html

    assert structure(page(HOSTILE)) == structure(page(PLAIN))
    assert HOSTILE in text(page(HOSTILE))
