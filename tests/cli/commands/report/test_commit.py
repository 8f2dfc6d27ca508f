"""``assay report commit``, and ``verify`` of its log: what breaks a commitment is found, and what was not reported."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from stand_ins import as_row
from toy import GOLD, make_instances

IDS = ["acme__calc-1", "acme__calc-2"]
LOG = Path("commitments.jsonl")
EVALUATE = ("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "mine")
SOLVE = ("rows.jsonl", "--agent", "null", "--seed", "1", "-n", "2", "--run-id", "solved")


@pytest.fixture
def run_assay(assay: Callable, rows: Path, predictions: Callable) -> Callable:
    """Commit to the run ``mine`` of two patches; return the command line."""
    predictions(dict.fromkeys(IDS, GOLD))
    done = assay("report", "commit", "--", *EVALUATE)
    assert done.code == 0, done.err
    assert "mine: 3 rows and 2 patches, line 1 of commitments.jsonl" in done.out
    return assay


def write_rows(folder: Path, **changes: object) -> None:
    rows = [as_row(each) for each in make_instances((1, 2, 3))]
    (folder / "rows.jsonl").write_text("".join(json.dumps(each | changes) + "\n" for each in rows))


def break_by_other_labels(folder: Path, _patches: Callable) -> tuple[str, ...]:
    write_rows(folder, PASS_TO_PASS=[])
    return EVALUATE


def break_by_another_patch(_folder: Path, patches: Callable) -> tuple[str, ...]:
    patches({IDS[0]: GOLD, IDS[1]: GOLD.replace("a + b", "b + a")})
    return EVALUATE


def break_by_leaving_out_a_patch(_folder: Path, patches: Callable) -> tuple[str, ...]:
    patches({IDS[0]: GOLD})
    return EVALUATE


def break_by_another_setting(_folder: Path, _patches: Callable) -> tuple[str, ...]:
    return (*EVALUATE, "--strict")


def break_by_another_time(folder: Path, _patches: Callable) -> tuple[str, ...]:
    about = json.loads((folder / LOG).read_text())
    (folder / LOG).write_text(json.dumps(about | {"time": "2999-01-01T00:00:00+00:00"}) + "\n")
    return EVALUATE


def break_by_a_changed_line(folder: Path, patches: Callable) -> tuple[str, ...]:
    lines = (folder / LOG).read_text().splitlines()
    second = json.loads(lines[0]) | {"run": "other", "before": "0" * 64}
    (folder / LOG).write_text(f"{lines[0]}\n{json.dumps(second)}\n")
    return EVALUATE


@pytest.mark.parametrize(
    ("break_it", "found"),
    [
        (break_by_other_labels, "acme__calc-1, acme__calc-2 is not the row that was committed"),
        (break_by_another_patch, "mine/predictions.jsonl: acme__calc-2 has another patch or model than was committed"),
        (break_by_leaving_out_a_patch, "mine/predictions.jsonl: acme__calc-2 was committed with a patch and has none"),
        (break_by_another_setting, "mine/run.json: was made with --strict yes; committed was no"),
        (break_by_another_time, "before it was committed at 2999-01-01T00:00:00+0000"),
        (break_by_a_changed_line, "line 2 does not follow the line before"),
    ],
)
def test_a_broken_commitment_is_found_and_a_kept_one_is_not(
    run_assay: Callable, in_folder: Path, predictions: Callable, break_it: Callable, found: str
) -> None:
    assert run_assay(*EVALUATE).code == 0
    assert run_assay("report", "verify", str(LOG)).code == 0
    shutil.rmtree("runs")
    command = break_it(in_folder, predictions)
    assert run_assay(*command).code == 0
    done = run_assay("report", "verify", str(LOG))
    assert (done.code, found in done.out) == (4, True), done.out


def test_a_commitment_that_was_cut_off_is_missed_by_its_published_hash(run_assay: Callable, rows: Path) -> None:
    head = run_assay("report", "commit", "--json", "--", *EVALUATE[:-1], "other").json["hash"]
    assert run_assay("report", "verify", str(LOG), "--head", head).code == 0
    LOG.write_text(LOG.read_text().splitlines(keepends=True)[0])
    done = run_assay("report", "verify", str(LOG), "--head", head)
    assert (done.code, f"no line has the hash {head}" in done.out) == (4, True)


def test_runs_that_were_committed_and_are_not_there_are_counted(run_assay: Callable, predictions: Callable) -> None:
    predictions({IDS[0]: GOLD, IDS[1]: ""})
    assert run_assay("report", "commit", "--", *EVALUATE).code == 0  # under the same name: only one can be made
    predictions({IDS[0]: GOLD}, "one.jsonl")
    assert run_assay("report", "commit", "--", "evaluate", "rows.jsonl", "-p", "one.jsonl", "--run-id", "one").code == 0
    assert run_assay(*EVALUATE).code == 0
    assert run_assay("evaluate", "rows.jsonl", "-p", "one.jsonl", "--run-id", "free").code == 0
    done = run_assay("report", "verify", str(LOG))
    assert done.code == 0, done.out
    assert "mine keeps what line 2 commits to" in done.out
    assert "not committed: free" in done.out
    assert done.out.endswith("2 of 3 committed runs not reported.\n")
    found = run_assay("report", "verify", str(LOG), "--json").json
    assert found["not_reported"] == ["mine (line 1)", "one (line 3)"]
    done = run_assay("report", "verify", str(LOG), "--run", "free")
    assert (done.code, "free: no line of the log commits to this run" in done.out) == (4, True)


def test_a_bundle_is_held_against_a_log(run_assay: Callable) -> None:
    assert run_assay(*EVALUATE).code == 0
    assert run_assay("report", "bundle", "mine", "-o", "mine.bundle", "--new-key", "key").code == 0
    assert run_assay("report", "verify", "mine.bundle", "--commitments", str(LOG)).code == 0
    LOG.write_text(LOG.read_text().replace('"--strict":"no"', '"--strict":"yes"'))
    done = run_assay("report", "verify", "mine.bundle", "--commitments", str(LOG))
    assert (done.code, "WRONG  mine/run.json: was made with --strict no" in done.out) == (4, True), done.out


def test_a_solver_is_held_to_its_seed_its_samples_and_the_patches_that_it_made(assay: Callable, rows: Path) -> None:
    assert assay("report", "commit", "--", "solve", *SOLVE).code == 0
    assert assay("solve", *SOLVE, "--evaluate").code == 0
    done = assay("report", "verify", str(LOG))
    assert (done.code, "solved keeps what line 1 commits to" in done.out) == (0, True), done.out
    patched = Path("runs/solved.evaluated/predictions.jsonl")
    patched.write_text(patched.read_text().replace('"patch": ""', '"patch": "x"', 1))
    done = assay("report", "verify", str(LOG))
    assert (done.code, "solved.evaluated/predictions.jsonl: acme__calc-1 has another patch" in done.out) == (4, True)
    shutil.rmtree("runs")
    assert assay("solve", *SOLVE[:4], "2", "--run-id", "solved").code == 0
    done = assay("report", "verify", str(LOG))
    assert done.code == 4
    assert "made with --seed 2; committed was 1" in done.out
    assert "made with --samples 1; committed was 2" in done.out


def test_gold_patches_are_a_run_like_others(assay: Callable, rows: Path) -> None:
    assert assay("report", "commit", "--", "evaluate", "rows.jsonl", "--gold").code == 0
    assert assay("evaluate", "rows.jsonl", "--gold").code == 0
    done = assay("report", "verify", str(LOG))
    assert (done.code, "rows.gold keeps what line 1 commits to" in done.out) == (0, True), done.out


def test_nothing_is_committed_to_after_it_began(run_assay: Callable) -> None:
    assert run_assay(*EVALUATE).code == 0
    run_assay("report", "commit", "--", *EVALUATE).refuses("runs/mine has begun already", "--run-id")


def test_a_log_that_is_no_chain_takes_no_line(run_assay: Callable) -> None:
    LOG.write_text("{}\n")
    run_assay("report", "commit", "--", *EVALUATE[:-1], "other").refuses("line 1 is no commitment", "another file")
    wrong = run_assay("report", "commit", "--", "diff", "rows.jsonl")
    wrong.refuses("'diff' into commitments.jsonl: must be evaluate or solve")
    run_assay("report", "commit", "--", *EVALUATE, "--shard", "1/2").refuses("leave --shard out")
