"""Shards of ``assay solve`` become one run: what it holds, what it cost, and how it is resumed."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from played_endpoint import Asked, Played, Reply, played_endpoint, said
from stand_ins import as_row
from toy import make_instances

ASK = ("solve", "rows.jsonl", "--agent", "bash_loop", "--model", "m", "--set", "form=block", "--run-id", "r")
MERGE = ("report", "merge", "runs/r.shard-1-of-2", "runs/r.shard-2-of-2", "-o", "runs/r")


class Submitting(Played):
    """A model that has a file written, and then submits."""

    def next(self, asked: Asked) -> Reply:
        with self.lock:
            self.asked.append(asked)
        begun = any(each["role"] == "assistant" for each in asked.body["messages"])
        return Reply(body=said(f"So.\n```bash\n{'submit' if begun else 'echo x > fix.py'}\n```"))

    @property
    def paid(self) -> int:
        return sum(len(each.body["messages"]) > 1 for each in self.asked)


@pytest.fixture
def rows(in_folder: Path) -> Path:
    """Three instances of which a model is asked different things: it would answer the same question once."""
    path = in_folder / "rows.jsonl"
    asked = [{**as_row(each), "problem_statement": f"fix {each.id}"} for each in make_instances((1, 2, 3))]
    path.write_text("".join(json.dumps(each) + "\n" for each in asked))
    return path


@pytest.fixture
def model() -> Iterator[Submitting]:
    with played_endpoint(Submitting()) as model:
        assert isinstance(model, Submitting)
        yield model


def solve(assay: Callable, model: Played, *more: str) -> Any:
    return assay(*ASK, "--base-url", model.url, *more, OPENAI_API_KEY="")


def lines(file: str) -> list[Any]:
    return [json.loads(line) for line in Path(file).read_text().splitlines()]


def test_shards_are_the_run_of_one_process(assay: Callable, rows: Path, model: Submitting) -> None:
    for part in ("1/2", "2/2"):
        assert solve(assay, model, "--shard", part, "--evaluate", "-n", "2").code == 0
    done = assay(*MERGE)
    assert done.code == 0, done.err
    assert "6 of 6 with a patch" in done.out
    assert "0 of 3 resolved" in done.out
    assert solve(assay, model, "--evaluate", "-n", "2", "--runs-dir", "single").code == 0
    for name in ("preds.jsonl", "preds.1.jsonl"):
        assert sorted(lines(f"runs/r/{name}"), key=str) == sorted(lines(f"single/r/{name}"), key=str)
    for name in ("r.evaluated", "r.evaluated-1"):
        assert Path(f"runs/{name}/report.json").read_bytes() == Path(f"single/{name}/report.json").read_bytes()
    kept = {path.relative_to("runs") for path in Path("runs/r").rglob("*") if path.is_file()}
    assert kept == {path.relative_to("single") for path in Path("single/r").rglob("*") if path.is_file()}
    assert len(lines("runs/r/llm.jsonl")) == len(lines("single/r/llm.jsonl")) == 12
    manifest = json.loads(Path("runs/r/run.json").read_text())
    assert manifest["instance_ids"] == ["acme__calc-1", "acme__calc-2", "acme__calc-3"]
    assert manifest["shards"] == []


def test_a_merged_run_resumes_and_pays_for_nothing_twice(assay: Callable, rows: Path, model: Submitting) -> None:
    for part in ("1/2", "2/2"):
        solve(assay, model, "--shard", part)
    assert assay(*MERGE).code == 0
    asked = len(model.asked)
    done = solve(assay, model)
    assert (done.code, done.err.count("known already"), len(model.asked)) == (0, 3, asked)
    assert len(lines("runs/r/solutions.jsonl")) == len(lines("runs/r/preds.jsonl")) == 3


def test_shards_hold_the_budget_together_and_the_merged_run_spends_the_rest(
    assay: Callable, rows: Path, model: Submitting
) -> None:
    """Three instances need six calls, and five are allowed: 3 for two instances, and 2 for one."""
    limited = ("--total-calls", "5", "-j", "1")
    for part, paid in (("1/2", 3), ("2/2", 5)):
        solve(assay, model, "--shard", part, *limited)
        assert model.paid == paid
    assert "unused" not in assay(*MERGE).out
    statuses = [each["status"] for each in lines("runs/r/solutions.jsonl")]
    assert sorted(statuses) == ["limit_calls", "submitted", "submitted"]
    solve(assay, model, *limited)
    assert model.paid == 5, "the merged run holds it, too"
    done = solve(assay, model, "--total-calls", "9")
    assert (done.code, model.paid) == (0, 6)
    assert {each["status"] for each in lines("runs/r/solutions.jsonl")} == {"submitted"}


def test_what_shards_left_is_said_and_the_merged_run_may_spend_it(
    assay: Callable, rows: Path, model: Submitting
) -> None:
    for part in ("1/2", "2/2"):
        solve(assay, model, "--shard", part, "--total-calls", "100", "--total-tokens", "100000")
    done = assay(*MERGE)
    assert "99340 tokens and 94 calls of the run's budget are unused: the merged run may spend them" in done.out


def test_what_cannot_be_merged_gets_one_line(assay: Callable, rows: Path) -> None:
    null = ("solve", "rows.jsonl", "--agent", "null", "--run-id", "r", "--shard")
    assert assay(*null, "1/2").code == 0
    missing = assay("report", "merge", "runs/r.shard-1-of-2", "-o", "runs/r")
    assert (missing.code, missing.out) == (4, "")
    assert missing.err.startswith("missing: shard 2/2 is not among the runs\nnothing was written")
    assay(*null, "2/2")
    finished = Path("runs/r.shard-2-of-2/solutions.jsonl")
    finished.rename("kept")
    assert "missing: runs/r.shard-2-of-2 has not finished; run its command again" in assay(*MERGE).err
    Path("kept").rename(finished)
    shutil.copytree("runs/r.shard-1-of-2", "runs/copy")
    assay(*MERGE[:4], "runs/copy", "-o", "runs/r").refuses(
        "runs/copy and runs/r.shard-1-of-2 both solved acme__calc-1; leave one of them out"
    )
    assay(*null, "2/3")
    assay(*MERGE[:3], "runs/r.shard-2-of-3", "-o", "runs/r").refuses("is shard 2/3 of another run than shard 1/2")
    assay("solve", "rows.jsonl", "--agent", "gold", "--run-id", "g", "--shard", "2/2")
    assay(*MERGE[:3], "runs/g.shard-2-of-2", "-o", "runs/r").refuses("was made with the setting agent gold 1")
    assay("evaluate", "rows.jsonl", "--gold", "--run-id", "e", "--shard", "2/2")
    assay(*MERGE[:3], "runs/e.shard-2-of-2", "-o", "runs/r").refuses("which cannot be merged")
    assay(*MERGE, "--fail-under", "5").refuses("solved without --evaluate")
    assert not Path("runs/r").exists()
    assert assay(*MERGE).code == 0
    assert assay(*MERGE).code == 0, "the same merge again"


def test_a_killed_shard_is_merged_as_far_as_it_came_and_the_merged_run_goes_on(
    assay: Callable, rows: Path, model: Submitting
) -> None:
    for part in ("1/2", "2/2"):
        solve(assay, model, "--shard", part)
    killed, asked = Path("runs/r.shard-2-of-2"), model.paid
    (killed / "solutions.jsonl").unlink()
    shutil.rmtree(killed / "instances")
    recording = (killed / "llm.jsonl").read_bytes()
    (killed / "llm.jsonl").write_bytes(recording[:-20])  # the last line is torn
    assert assay(*MERGE).code == 4
    done = assay(*MERGE, "--allow-missing")
    assert done.code == 0, done.err
    assert solve(assay, model).code == 0
    assert model.paid == asked + 1, "the answer whose line was torn"
    assert len(lines("runs/r/solutions.jsonl")) == 3


def test_a_run_that_names_no_instances_is_not_merged_to_nothing(assay: Callable, rows: Path) -> None:
    assay("solve", "rows.jsonl", "--agent", "null", "--run-id", "old")
    manifest = json.loads(Path("runs/old/run.json").read_text())
    Path("runs/old/run.json").write_text(json.dumps({**manifest, "instance_ids": []}))
    assay("report", "merge", "old", "-o", "runs/r").refuses(
        "runs/old was made before a solver's run named its instances"
    )


def test_a_shard_that_was_not_evaluated_is_named(assay: Callable, rows: Path) -> None:
    null = ("solve", "rows.jsonl", "--agent", "null", "--run-id", "r", "--shard")
    assay(*null, "1/2", "--evaluate")
    assay(*null, "2/2")
    done = assay(*MERGE)
    assert done.code == 4
    assert "missing: runs/r.shard-2-of-2.evaluated is not there; solve that shard with --evaluate" in done.err


def test_shards_without_instances_are_parts_too(assay: Callable, rows: Path) -> None:
    parts = [f"runs/r.shard-{number}-of-4" for number in range(1, 5)]
    for number in range(1, 5):
        null = ("solve", "rows.jsonl", "--agent", "null", "--run-id", "r", "--shard", f"{number}/4", "--evaluate")
        assert assay(*null).code == 0
    done = assay("report", "merge", *parts, "-o", "runs/r", "--json")
    assert done.code == 0, done.err
    assert len(done.json["solutions"]) == done.json["evaluations"][0]["total_instances"] == 3
