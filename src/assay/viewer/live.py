"""A live run: server-sent events for the script of its overview."""

import json
import time
from collections.abc import Iterator

from assay.harness.runs.control import is_at_work
from assay.harness.runs.standing import RunState, Standing, read_state
from assay.viewer.figures import border, count
from assay.viewer.runs import ViewedRun
from assay.viewer.text import readable

EVERY = 1.0  # seconds between two events
SHOWN = 50  # items at work that are listed; the others are counted
STAGES = {"building": "building its image", "testing": "testing", "saving": "being saved", "": "at work"}
WORKING = ("running", "paused")


def read_live(run: ViewedRun) -> RunState | None:
    """Return how far a run is; None if no process is working on it."""
    state = read_state(run.store) if is_at_work(run.store) else None
    return state if state is not None and state.state in WORKING else None


def read_events(run: ViewedRun) -> Iterator[bytes]:
    """Yield an event for each second that a run is at work, and at last one that says that it is not."""
    standing = Standing(run.store)
    while (state := read_state(run.store, standing)).state in WORKING:
        yield f"data: {json.dumps(describe(state))}\n\n".encode()
        time.sleep(EVERY)
    yield b"event: over\ndata: {}\n\n"


def describe(state: RunState) -> dict[str, object]:
    """Return a run in the words of its page: a sentence, the share that is done, and rows of two tables."""
    at_work = sorted(state.at_work, key=lambda item: -item.seconds)
    pace = f", {count(state.per_hour)} an hour" if state.per_hour else ""
    left = f", about {border(round(state.seconds_left))} left" if state.seconds_left is not None else ""
    text = f"{count(state.done)} of {count(state.total)} done, {state.jobs} at once{pace}{left}"
    return {
        "text": text if state.total else "the work is being planned",
        "state": state.state,
        "share": state.done / state.total if state.total else 0,
        "work": [
            (readable(each.instance), STAGES[each.stage], border(round(each.seconds))) for each in at_work[:SHOWN]
        ],
        "more": len(at_work[SHOWN:]),
        "latest": [(readable(name), readable(outcome)) for name, outcome in state.latest],
    }
