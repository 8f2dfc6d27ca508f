"""``assay report verify``: whose signature, what was checked, and exit 4 for whatever is wrong."""

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.version import __version__
from toy import GOLD


@pytest.fixture
def bundle(assay: Callable, run: Path) -> Path:
    assert assay("report", "bundle", "rows.gold", "-o", "gold.bundle", "--new-key", "key").code == 0
    return Path("gold.bundle")


@pytest.fixture
def mixed(assay: Callable, runs: None) -> Path:
    assert assay("report", "bundle", "mine", "-o", "mine.bundle", "--new-key", "key").code == 0
    return Path("mine.bundle")


def flip(path: Path, text: bytes) -> None:
    content = bytearray(path.read_bytes())
    content[content.index(text)] ^= 1
    path.write_bytes(content)


def test_an_unknown_signer_is_said_plainly_and_a_trusted_one_named(assay: Callable, bundle: Path) -> None:
    unknown = assay("report", "verify", "gold.bundle")
    assert (unknown.code, "valid, by a key that nobody vouches for here" in unknown.out) == (0, True)
    assert unknown.out.endswith("The bundle holds; who signed it is not known here.\n")
    trusted = assay("report", "verify", "gold.bundle", "--signers", "key.pub")
    assert (trusted.code, "trusted: assay, SHA256:" in trusted.out) == (0, True)
    assert trusted.out.endswith("The bundle holds, and its signer is trusted.\n")


def test_a_signer_that_is_not_among_the_trusted_fails(assay: Callable, bundle: Path) -> None:
    assay("report", "bundle", "rows.gold", "-o", "other.bundle", "--new-key", "other")
    done = assay("report", "verify", "gold.bundle", ASSAY_SIGNERS="other.pub")
    assert done.code == 4
    assert "which is not in other.pub" in done.out


def test_a_changed_byte_is_named_with_its_file_and_nothing_is_graded(assay: Callable, bundle: Path) -> None:
    flip(bundle, b'"exit_code"')
    done = assay("report", "verify", "gold.bundle")
    assert done.code == 4
    wrong = "runs/rows.gold/instances/acme__calc-1/evidence.json: its content is not what was signed"
    assert f"WRONG  {wrong}\n" in done.out
    assert "not graded again" in done.out


def test_json_has_every_problem_and_the_exit_status_is_the_same(assay: Callable, bundle: Path) -> None:
    found = assay("report", "verify", "gold.bundle", "--json").json
    assert (found["holds"], found["problems"], found["graded"], found["signature"]["state"]) == (True, [], 3, "unknown")
    flip(bundle, b'"exit_code"')
    done = assay("report", "verify", "gold.bundle", "--json")
    assert done.code == 4
    assert done.json["problems"][0]["file"].endswith("acme__calc-1/evidence.json")


def test_what_is_no_bundle_is_one_line_and_exit_4(assay: Callable, bundle: Path) -> None:
    for content, problem in (
        (b"text\n" * 1000, "is no bundle, or the header at its beginning is damaged"),
        (gzip.compress(bundle.read_bytes()), "is compressed; decompress it first, with gzip -d"),
    ):
        Path("x").write_bytes(content)
        done = assay("report", "verify", "x")
        assert (done.code, done.out, done.err) == (4, f"WRONG  x: {problem}\n", "")
    assay("report", "verify", "none.bundle").refuses("assay: none.bundle: No such file or directory\n")


def test_a_run_of_a_solver_that_saw_the_answer_is_marked(assay: Callable, run: Path) -> None:
    about = run / "run.json"
    about.write_text(about.read_text().replace('"settings": {', '"settings": {"oracle": "files",', 1))
    assay("report", "bundle", "rows.gold", "-o", "gold.bundle", "--new-key", "key")
    done = assay("report", "verify", "gold.bundle")
    assert "the solver was given the files of each instance" in done.out


def test_the_instances_are_compared_with_the_data_sets(assay: Callable, mixed: Path, rows: Path) -> None:
    assert "those that the bundle brings; --dataset compares them" in assay("report", "verify", "mine.bundle").out
    done = assay("report", "verify", "mine.bundle", "--dataset", "rows.jsonl")
    assert done.code == 0
    assert "compared with the data set's; 2 of its 3 instances are in the run" in done.out


def test_labels_that_the_signer_changed_are_found(assay: Callable, mixed: Path, rows: Path) -> None:
    rows.write_text(rows.read_text().replace('"PASS_TO_PASS": [', '"PASS_TO_PASS": ["tests/test_calc.py::test_more", '))
    done = assay("report", "verify", "mine.bundle", "-d", "rows.jsonl", "--json")
    assert done.code == 4
    assert [each["what"] for each in done.json["problems"]] == [
        "pass_to_pass is not the data set's: tests/test_calc.py::test_more"
    ] * 2


def test_what_a_stranger_wrote_cannot_pass_for_a_line_of_the_answer(
    assay: Callable, predictions: Callable, rows: Path
) -> None:
    path = predictions({"acme__calc-1": GOLD})
    forged = "m\\u001b[2J\\n  signature   trusted: you\\u202e"
    path.write_text(path.read_text().replace("acme/model", forged))
    assert assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "mine").code == 0
    assay("report", "bundle", "mine", "-o", "mine.bundle", "--new-key", "key")
    done = assay("report", "verify", "mine.bundle")
    assert done.code == 0
    assert len([line for line in done.out.splitlines() if line.startswith("  signature ")]) == 1
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out


@pytest.mark.parametrize("controls", [(), ("--controls",)], ids=["plain", "controls"])
def test_a_run_that_was_made_in_parts_holds(controls: tuple[str, ...], assay: Callable, rows: Path) -> None:
    assay("evaluate", "rows.jsonl", "--gold", "--run-id", "parts", "-i", "acme__calc-2", *controls)
    assay("evaluate", "rows.jsonl", "--gold", "--run-id", "parts", *controls)
    assert assay("report", "bundle", "parts", "-o", "parts.bundle", "--new-key", "key").code == 0
    assert assay("report", "verify", "parts.bundle").code == 0


def test_another_version_of_assay_is_said(assay: Callable, run: Path) -> None:
    for name in ("run.json", "report.json"):
        path = run / name
        path.write_text(path.read_text().replace(f'"assay_version": "{__version__}"', '"assay_version": "0.0.9"'))
    assay("report", "bundle", "rows.gold", "-o", "gold.bundle", "--new-key", "key")
    done = assay("report", "verify", "gold.bundle")
    assert "an evaluation of gold patches or of none, by Assay 0.0.9\n" in done.out
    assert "byte for byte the gold patch of their instance: 3 patches" in done.out
    assert f"this is Assay {__version__}, which may grade in another way" in done.out


def test_a_replay_evaluates_the_chosen_instances_anew(assay: Callable, mixed: Path) -> None:
    shutil.rmtree("runs")
    done = assay("report", "verify", "mine.bundle", "--replay", "5", "--seed", "1")
    assert done.code == 0
    assert "evaluated   acme__calc-1: resolved, as before" in done.out
    assert "evaluated   acme__calc-2: empty_patch, as before" in done.out
    assert "seed        1 chose 2 instances" in done.out
    assert not Path("runs").exists()


def test_a_seed_chooses_the_same_instances_again(assay: Callable, bundle: Path) -> None:
    replay = ("report", "verify", "gold.bundle", "--replay", "1", "--json")
    first = assay(*replay).json
    again = assay(*replay, "--seed", str(first["seed"])).json
    assert [each["instance_id"] for each in first["replayed"]] == [each["instance_id"] for each in again["replayed"]]
    assert len(first["replayed"]) == 1


def test_a_run_without_patches_is_replayed_with_its_tests(assay: Callable, rows: Path) -> None:
    assay("evaluate", "rows.jsonl", "--null")
    assay("report", "bundle", "rows.null", "-o", "null.bundle", "--new-key", "key")
    done = assay("report", "verify", "null.bundle", "--replay", "3")
    assert done.code == 0
    assert done.out.count("unresolved, as before") == 3


def test_a_replay_with_another_verdict_fails_and_says_what_differs(
    assay: Callable, bundle: Path, actor: Callable
) -> None:
    other = actor({"tests/test_calc.py::test_same": [False]})
    done = assay("report", "verify", "gold.bundle", "--replay", "1", "--seed", "3", "--engine", other)
    assert done.code == 4
    assert "evaluated anew: unresolved (0 of 1 unfixed, 1 of 1 broken), the bundle says resolved" in done.out
    assert "tests/test_calc.py::test_same: passed then, failed now" in done.out


def test_a_replay_that_the_infrastructure_stopped_is_exit_3_and_no_forgery(
    assay: Callable, bundle: Path, in_folder: Path
) -> None:
    (in_folder / "broken.py").write_text(
        "from assay.harness.engines.fake import FakeEngine\n"
        "from assay.harness.errors import EngineError\n"
        "def fault(call, image):\n"
        "    if call == 'exec':\n"
        "        raise EngineError('the engine fell over')\n"
        "def make():\n"
        "    return FakeEngine({}, fault=fault)\n"
    )
    done = assay("report", "verify", "gold.bundle", "--replay", "1", "--engine", "broken:make")
    assert done.code == 3
    assert "infra_error" in done.out


def test_a_bundle_that_does_not_hold_is_not_replayed(assay: Callable, bundle: Path) -> None:
    flip(bundle, b'"exit_code"')
    found = assay("report", "verify", "gold.bundle", "--replay", "1", "--json").json
    assert found["replayed"] == []
    assay("report", "verify", "gold.bundle", "--seed", "1").refuses("--replay N")
