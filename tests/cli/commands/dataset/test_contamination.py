from collections.abc import Callable
from pathlib import Path

from changes import change
from played_endpoint import Reply, played_endpoint, said
from rowfiles import lines
from stand_ins import as_row
from toy import make_instances

FIX = [f"    total_{number} = combine(left, right, {number})" for number in range(6)]


def test_rates_before_and_after_a_date_are_printed(assay: Callable, in_folder: Path) -> None:
    old, new = make_instances((1, 2), gold_patch=change("calc.py", adds=FIX))
    rows = lines(in_folder, as_row(old), {**as_row(new), "created_at": "2026-01-01T00:00:00Z", "repo": "acme/other"})
    ask = ("dataset", "contamination", rows, "--model", "toy", "--cutoff", "2025-12-31", "-j", "1")
    with played_endpoint() as played:
        played.plays(*[said("calc.py\n" + "\n".join(FIX))] * 2, said("I do not know."))
        done = assay(*ask, "--base-url", played.url, "--cassette", "answers.jsonl")
    assert done.code == 0, done.err
    assert "1 of 2, 50.0%" in done.out
    assert "1 of 1, 100.0%" in done.out
    assert "+100.0%" in done.out
    found = assay(*ask, "--cassette", "answers.jsonl", "--json").json
    assert [each["lines"] for each in found["instances"]] == [3, 0], "answers are replayed"


def test_a_question_without_an_answer_is_exit_3_and_wrong_input_one_line(assay: Callable, rows: Path) -> None:
    ask = ("dataset", "contamination", "rows.jsonl", "--model", "toy")
    with played_endpoint() as played:
        played.plays(Reply(status=400, body={"error": {"message": "no such model"}}))
        done = assay(*ask, "--base-url", played.url)
    assert done.code == 3
    assert "no such model" in done.out
    assay(*ask, "--base-url", "ftp://x").refuses("ftp://x")
    assay(*ask, "--base-url", "http://127.0.0.1:9/v1", "--cost", "1").refuses("price")
