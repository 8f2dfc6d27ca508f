import json

import pytest

from assay.harness.runs.control import listen
from assay.harness.runs.standing import ItemAtWork, RunState
from assay.viewer import live
from assay.viewer.live import describe, read_events
from assay.viewer.pages import Pages
from assay.viewer.runs import Viewer
from solved_run import MakeRun, Serve

STATE = RunState("run", "running", 3, 10, 2, 60.0, 420.0, (ItemAtWork("a", "building", 3.0),), (("b", "resolved"),))


def test_state_is_a_sentence_with_stages_and_the_last_outcomes() -> None:
    found = describe(STATE)
    assert found["text"] == "3 of 10 done, 2 at once, 60 an hour, about 7 min left"
    assert found["work"] == [("a", "building its image", "3 s")]
    assert (found["latest"], found["share"], found["more"]) == ([("b", "resolved")], 0.3, 0)
    assert describe(RunState("run", "running", 0, 0, 2, None, None))["text"] == "the work is being planned"


def test_events_follow_the_journal_and_end_with_the_run(judged: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    store = judged("acme", "+")
    monkeypatch.setattr(live, "EVERY", 0.0)
    (run,) = Viewer([store]).runs.values()
    with listen(store):
        events = read_events(run)
        for event, instance, stage in (("started", "a\u202e", "at work"), ("testing", "a\u202e", "testing")):
            store.journal(event, instance)
            now = json.loads(next(events).removeprefix(b"data: "))
            assert [(name, stage) for name, stage, _ in now["work"]] == [("a\u27e8U+202E\u27e9", stage)]
        store.journal("finished", "a\u202e", outcome="resolved")
        now = json.loads(next(events).removeprefix(b"data: "))
        assert (now["work"], now["latest"]) == ([], [["a\u27e8U+202E\u27e9", "resolved"]])
    assert [*events] == [b"event: over\ndata: {}\n\n"]


def test_server_sends_events_of_a_run_and_refuses_other_sites(make_run: MakeRun, serve: Serve) -> None:
    store = make_run()
    client = serve(store)
    assert client.get("/acme.model/events").text == "event: over\ndata: {}\n\n"
    assert client.get("/acme.model/events", headers={"Origin": "http://evil.example"}).status_code == 403
    assert client.get("/nobody/events").status_code == 404
    assert 'id="live"' not in client.get("/acme.model/index.html").text
    assert "at work" not in client.get("/").text
    with listen(store):
        assert "at work" in client.get("/").text
        assert 'id="live"' not in (Pages(Viewer([store])).find_html("acme.model/index.html") or ""), "a written page"
        page = client.get("/acme.model/index.html")
        assert 'data-events="../acme.model/events"' in page.text
        assert "connect-src 'self'" in page.headers["Content-Security-Policy"]
        with client.stream("GET", "/acme.model/events") as answer:
            assert answer.headers["Content-Type"] == "text/event-stream"
            assert b"3 of 3 done" in next(answer.iter_raw())
