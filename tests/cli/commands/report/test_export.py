from collections.abc import Callable
from pathlib import Path

import pytest

UNTRIED = "no counter-tests were run for the 1 resolved (assay evaluate --counter pair)\n"
ABOUT = """\
name: Toy agent + M-1
split: verified
authors: A. Person
site: https://example.org
report: https://example.org/report
model: [M-1]
org: [Example]
os_model: true
os_system: true
"""


@pytest.fixture
def about(in_folder: Path) -> str:
    (in_folder / "me.yaml").write_text(ABOUT)
    return "me.yaml"


def test_a_submission_is_written_and_checked(assay: Callable, mine: Path, about: str) -> None:
    options = ("--format", "swebench", "--metadata", about)
    done = assay("report", "export", "mine", *options, "-o", "out")
    assert (done.code, done.out) == (0, f"13 files in out; resolved by the rule of swe-bench\n{UNTRIED}")
    checked = assay("report", "export", "out", "--format", "swebench", "--check")
    (home,) = Path("out").glob("evaluation/verified/*_Toy-agent_M-1")
    assert checked.code == 4
    size = "all_preds.jsonl: instance_id: has 2 predictions and 1 named as missing of the 500 of verified"
    assert f"{home.relative_to('out')}/{size}; evaluate the whole split\n" in checked.out
    again = assay("report", "export", "mine", *options, "--check", "--json")
    assert (again.code, again.json["rules"], len(again.json["files"])) == (4, ["swe-bench"], 13)
    assert again.json["counter_tests"] == UNTRIED.strip()
    assert {"file", "field", "problem"} == set(again.json["problems"][0])
    assert all(Path(name).is_file() for name in again.json["files"])


def test_a_submission_without_metadata_is_one_line(assay: Callable, mine: Path) -> None:
    needed = "--metadata FILE is not given: swe-polybench needs name, split, site, os_system; write a line for each"
    assay("report", "export", "mine", "--format", "swe-polybench").refuses(f"assay: {needed}")


def test_a_file_for_metadata_is_begun_and_never_overwritten(assay: Callable, mine: Path) -> None:
    ask = ("report", "export", str(mine), "--format", "swebench", "--init-metadata", "new.yaml")
    assert assay(*ask).code == 0
    assay(*ask).refuses("new.yaml is there already")
    assay(*ask[:-2], "--metadata", "new.yaml").refuses("new.yaml: swebench needs")


def test_an_export_that_does_not_fit_the_instances_is_one_line(assay: Callable, mine: Path, about: str) -> None:
    done = assay("report", "export", "mine", "--format", "multi-swe-bench", "--metadata", about)
    done.refuses("graded by swe-bench, not by multi-swe-bench")
    assert not list(Path().glob("*multi-swe-bench*"))


def test_an_export_needs_the_evidence(assay: Callable, mine: Path) -> None:
    (mine / "instances/acme__calc-2/evidence.json").unlink()
    assay("report", "export", "mine", "--format", "junit").refuses("acme__calc-2")


def test_control_runs_go_to_no_leaderboard_but_into_ci(assay: Callable, run: Path) -> None:
    assay("report", "export", "rows.gold", "--format", "sb-cli").refuses(
        "is exported to no leaderboard: it is an evaluation of gold patches"
    )
    done = assay("report", "export", "rows.gold", "--format", "junit", "--check")
    untried = UNTRIED.replace("1", "3")
    assert (done.code, done.out) == (
        0,
        f"1 file in rows.gold.junit; resolved by the rule of swe-bench\n{untried}rows.gold.junit: 0 problems\n",
    )


def test_an_earlier_export_is_not_overwritten(assay: Callable, mine: Path) -> None:
    assay("report", "export", "mine", "--format", "csv")
    assay("report", "export", "mine", "--format", "csv").refuses("mine.csv is not empty; remove it")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--format", "sweebench"), "unknown export 'sweebench'; did you mean swebench?"),
        (("--format", "swebench", "--metadata", "no.yaml"), "no.yaml: there is no such file"),
        (("--format", "swebench", "--trajectories", "nowhere"), "nowhere: there is no such folder of trajectories"),
    ],
)
def test_a_wrong_option_is_one_line(assay: Callable, mine: Path, options: tuple[str, ...], message: str) -> None:
    assay("report", "export", "mine", *options).refuses(message)
