"""``assay solve`` as a person calls it, on the engine without containers."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from played_endpoint import Reply, played_endpoint, said
from tables import read_tables
from toy import GOLD, MORE_TESTS

TABLES = read_tables(__file__)

ASK = ("solve", "rows.jsonl", "--agent", "bash_loop", "--model", "m")


def test_gold_is_solved_evaluated_and_exported_to_no_leaderboard(assay: Callable, rows: Path) -> None:
    done = assay("solve", "rows.jsonl", "--agent", "gold", "--evaluate")
    assert done.code == 0, done.err
    assert done.out.count("resolved") == 3
    assert "3 of 3 with a patch, free · runs/rows.solve.gold" in done.out
    assert json.loads(Path("runs/rows.solve.gold/run.json").read_text())["settings"]["oracle"] == "gold_patch"
    for run in ("rows.solve.gold.evaluated", "again"):
        refused = assay("report", "export", run, "--format", "swebench")
        if run == "again":
            assert "no run 'again'" in refused.err
            assay("evaluate", "rows.jsonl", "-p", "runs/rows.solve.gold/preds.jsonl", "--run-id", "again")
            refused = assay("report", "export", run, "--format", "swebench")
        assert refused.code == 2
        problem = "is exported to no leaderboard: its solver was given the gold_patch of each instance"
        assert refused.err == f"assay: runs/{run} {problem}\n"


def test_null_changes_nothing_and_is_a_control(assay: Callable, rows: Path) -> None:
    done = assay("solve", "rows.jsonl", "--agent", "null", "--evaluate", "--json")
    assert done.code == 0, done.err
    shown = done.json
    assert [each["status"] for each in shown["solutions"]] == ["empty"] * 3
    assert shown["evaluations"][0]["empty_patch_ids"] == ["acme__calc-1", "acme__calc-2", "acme__calc-3"]
    assay("report", "export", "rows.solve.null.evaluated", "--format", "swebench").refuses("it is a control run")


def test_what_was_made_is_where_the_documents_say(assay: Callable, rows: Path) -> None:
    assay("solve", "rows.jsonl", "--agent", "gold", "-i", "acme__calc-1", "-n", "2", "--run-id", "r")
    folder = Path("runs/r")
    assert {path.name for path in folder.iterdir()} == {
        "run.json", "journal.jsonl", "lock", "instances", "solutions.jsonl", "preds.jsonl", "preds.1.jsonl",
        "preds.json",
    }  # fmt: skip
    for sample in ("0", "1"):
        files = {path.name for path in (folder / "instances/acme__calc-1" / sample).iterdir()}
        assert files == {"task.json", "trajectory.json", "patch.diff", "solution.json", "logs"}
    row = {"instance_id": "acme__calc-1", "model_name_or_path": "gold", "model_patch": GOLD, "oracle": "gold_patch"}
    assert json.loads((folder / "preds.jsonl").read_text()) == row
    assert json.loads((folder / "preds.json").read_text()) == {"acme__calc-1": row}


def test_the_same_command_again_does_only_what_is_missing(assay: Callable, rows: Path) -> None:
    assay("solve", "rows.jsonl", "--agent", "null", "-i", "acme__calc-1")
    done = assay("solve", "rows.jsonl", "--agent", "null")
    assert (done.code, done.err.count("known already"), done.err.count("empty (")) == (0, 1, 3)


def test_a_cassette_that_is_there_needs_no_endpoint(assay: Callable, rows: Path) -> None:
    Path("empty.jsonl").write_text("")
    done = assay(*ASK, "--cassette", "empty.jsonl", OPENAI_API_KEY="")
    assert done.code == 2
    assert "the cassette empty.jsonl has no answer to this question" in done.err
    assert len(done.err.strip().splitlines()[-1]) > 20


def test_the_patches_of_a_run_are_played_back(assay: Callable, rows: Path) -> None:
    assay("solve", "rows.jsonl", "--agent", "gold", "--run-id", "first")
    for run, source in (("a", "runs/first/preds.jsonl"), ("b", "runs/first")):
        settings = ("--agent", "replay", "--set", f"source={source}", "--run-id", run)
        done = assay("solve", "rows.jsonl", *settings, "--evaluate")
        assert done.code == 0, done.err
        assert done.out.count("resolved") == 3


@pytest.mark.parametrize(("arguments", "shown"), TABLES["what_is_wrong_is_one_line"])
def test_what_is_wrong_is_one_line(assay: Callable, rows: Path, arguments: list[str], shown: str) -> None:
    assay("solve", "rows.jsonl", *arguments, OPENAI_API_KEY="", OPENAI_BASE_URL="").refuses(shown)


@pytest.mark.parametrize("limits", [["--cost", "1"], ["--total-cost", "5"], ["--cost", "1", "--total-cost", "5"]])
def test_limit_in_money_of_a_model_without_a_price_is_refused_first(assay: Callable, limits: list[str]) -> None:
    asked = ["--agent", "bash_loop", "--model", "mine", "--base-url", "http://127.0.0.1:9/v1"]
    names = " and ".join(each for each in limits if each.startswith("--"))
    problem = f"assay: the price of mine is not known, so {names} would limit nothing; give --prices"
    assay("solve", "no-such-rows.jsonl", *asked, *limits).refuses(problem, "or limit --tokens")
    Path("prices.yaml").write_text("models: {mine: {input: 1, output: 2}}")
    done = assay("solve", "no-such-rows.jsonl", *asked, *limits, "--prices", "prices.yaml")
    assert "no such data set" in done.err


def test_dead_endpoint_is_said_before_any_container(assay: Callable, rows: Path) -> None:
    done = assay(*ASK, "--base-url", "http://127.0.0.1:9/v1", "--run-id", "r")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("asking m one short question\nassay: no connection to http://127.0.0.1:9/v1: ")
    assert done.err.endswith("; start the server, or correct --base-url\n")
    assert not Path("runs/r/instances").exists()


def test_web_page_and_empty_choices_are_said_before_any_container(assay: Callable, rows: Path) -> None:
    with played_endpoint() as endpoint:
        for body, shown in (("<html>hello</html>", "answers with a web page"), ({"choices": []}, "has no 'choices'")):
            endpoint.plays(Reply(body=body))
            done = assay(*ASK, "--base-url", endpoint.url, OPENAI_API_KEY="")
            assert (done.code, done.out) == (2, "")
            assert shown in done.err
        assert len(endpoint.asked) == 2


def test_each_retry_is_said(assay: Callable, rows: Path) -> None:
    submit = said("Done.\n```bash\nsubmit\n```")
    with played_endpoint() as endpoint:
        endpoint.plays(said("OK"), Reply(status=503, body="loading"), submit)
        options = ("--set", "form=block", "-i", "acme__calc-1", "--base-url", endpoint.url)
        done = assay(*ASK, *options, OPENAI_API_KEY="")
    assert done.code == 0, done.err
    assert "the model's endpoint answers with status 503: loading; try 2 of 6 in" in done.err


def test_call_that_is_pending_at_the_time_limit_ends_the_sample(assay: Callable, rows: Path) -> None:
    with played_endpoint() as endpoint:
        endpoint.plays(said("OK"), Reply(delay=20.0))
        options = ("-i", "acme__calc-1", "--seconds", "1", "--base-url", endpoint.url, "--json")
        done = assay(*ASK, *options, OPENAI_API_KEY="")
        (solution,) = done.json["solutions"]
    assert done.code == 0, done.err
    assert solution["status"] == "limit_time"
    assert solution["error"] == "the budget of 1 seconds ended before the model answered"
    assert solution["usage"]["seconds"] < 15


def test_a_solver_s_run_has_no_verdicts_to_show(assay: Callable, rows: Path) -> None:
    assay("solve", "rows.jsonl", "--agent", "null", "-i", "acme__calc-1", "--run-id", "r")
    assay("report", "show", "r").refuses("r.evaluated")


def test_the_members_of_an_ensemble_are_scored_beside_its_choice(assay: Callable, rows: Path) -> None:
    """Two of three members agree; the third has no patch that applies; one instance was tried by one alone."""
    names = ["acme__calc-1", "acme__calc-2"]
    for member, patches in {
        "a": [MORE_TESTS] * 2,
        "b": [MORE_TESTS],
        "c": [GOLD.replace("calc.py", "none.py")],
    }.items():
        given = zip(names, patches, strict=False)
        text = [
            json.dumps({"instance_id": name, "model_name_or_path": member, "model_patch": patch})
            for name, patch in given
        ]
        Path(f"{member}.jsonl").write_text("\n".join(text))
    ensemble = ("--set", "candidates=a.jsonl, b.jsonl,c.jsonl", "--set", "selector=vote")
    asked = ("solve", "rows.jsonl", "--agent", "best_of", *ensemble, "--run-id", "r", "--evaluate-candidates")
    done = assay(*asked, "--json")
    assert done.code == 0, done.err
    assert [each["status"] for each in done.json["solutions"]] == ["submitted", "submitted", "empty"]
    coverage = done.json["coverage"]
    assert (coverage["solutions"], coverage["unknown"]) == (2, 0)
    assert [(each["source"], each["tried"]) for each in coverage["sources"]] == [("a", 2), ("b", 1)]
    assert Path("runs/r.candidates-0/report.json").is_file()
    assert not Path("runs/r.candidates-1").exists(), "equal patches are evaluated once"
    shown = assay(*asked)
    assert "of 2 solutions with candidates: " in shown.out
    assert "no source of candidates has a patch for this instance" in shown.out
    assay("report", "export", "r.candidates-0", "--format", "swebench").refuses("was given the instance_id")
    assay(*asked, "--shard", "1/2").refuses("merge the shards")
