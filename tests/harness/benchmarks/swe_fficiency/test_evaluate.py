"""Reading and running workloads, and reading the marks of a run."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from assay.harness.benchmarks.swe_fficiency import workload_driver
from assay.harness.benchmarks.swe_fficiency.evaluate import MOST_ROUNDS, ROUNDS, read_marks, take_turns
from assay.harness.benchmarks.swe_fficiency.workload import MalformedWorkloadError, read_workload
from assay.harness.domain import TestedTree, WorkloadRun

PROGRAM = """\
import timeit
from statistics import mean

def setup():
    global numbers
    numbers = list(range(10))

def workload():
    total = sum(numbers)
    def inner():
        return 1
    if total > 100:
        return inner()
    _ = total * 0.1

runtimes = timeit.repeat(workload, number=3, repeat=5, setup=setup)
print("Mean:", mean(runtimes))
"""


def test_a_workload_is_read_without_its_own_clock() -> None:
    found = read_workload(PROGRAM)
    assert (found.function, found.setup, found.number) == ("workload", "setup", 3)
    assert "runtimes" not in found.source
    assert "Mean" not in found.source
    assert found.source.count("locals()") == 2


@pytest.mark.parametrize(
    "text",
    [
        "def workload(:",
        PROGRAM.replace("number=3", "number=len('abc')"),
        PROGRAM.replace("setup=setup", "setup='x = 1'"),
        PROGRAM.replace("return inner()", "yield 1"),
        PROGRAM.replace("timeit.repeat(workload", "timeit.repeat(lambda: 1"),
        "print('Mean: 1')",
    ],
)
def test_another_program_is_refused(text: str) -> None:
    with pytest.raises(MalformedWorkloadError):
        read_workload(text)


def driven(folder: Path, program: str) -> list[str]:
    workload = read_workload(program)
    (folder / "workload.py").write_text(workload.source)
    out = folder / "marks"
    out.touch()
    arguments = (out, folder / "workload.py", workload.function, workload.setup, workload.number)
    subprocess.run([sys.executable, workload_driver.__file__, *map(str, arguments)], check=True)
    return out.read_text().splitlines()


def test_the_driver_marks_the_timed_calls_and_hashes_what_one_computed(tmp_path: Path) -> None:
    lines = driven(tmp_path, PROGRAM)
    assert [line.split()[0] for line in lines] == ["timed", "done", "results"]
    for name in ("returned", "local total", "local _", "global numbers"):
        assert f'"{name}"' in lines[2]
    assert driven(tmp_path, PROGRAM)[-1] == lines[2]
    assert driven(tmp_path, PROGRAM.replace("total * 0.1", "total * 0.1000000001"))[-1] == lines[2]
    assert driven(tmp_path, PROGRAM.replace("total * 0.1", "total * 0.2"))[-1] != lines[2]


def test_the_driver_times_each_of_several_programs(tmp_path: Path) -> None:
    out, arguments = tmp_path / "marks", []
    out.touch()
    for number, text in enumerate((PROGRAM, PROGRAM.replace("range(10)", "range(11)"))):
        workload, file = read_workload(text), tmp_path / f"{number}.py"
        file.write_text(workload.source)
        arguments += [file, workload.function, workload.setup, workload.number]
    subprocess.run([sys.executable, workload_driver.__file__, *map(str, (out, *arguments))], check=True)
    lines = out.read_text().splitlines()
    assert [line.split()[0] for line in lines] == ["timed", "done", "timed", "done", "results"]
    assert '"program 0 returned"' in lines[-1]
    assert '"program 1 returned"' in lines[-1]


def test_the_time_of_several_programs_is_their_geometric_mean_so_that_each_counts_as_much() -> None:
    marks = b"0 began\n1 timed\n2 done\n3 timed\n7 done\n7 results {}\n8 ended\n"
    run = read_marks(marks, 2)
    assert run.seconds == pytest.approx(4)
    assert (run.outside, run.problem) == (3, "")
    assert read_marks(marks).forged
    assert read_marks(MARKS, 2).forged


MARKS = b'10.0 began\n10.5 timed\n12.0 done\n12.1 results {"returned": "1"}\n12.25 ended\n'


def test_times_are_those_of_root() -> None:
    run = read_marks(MARKS)
    assert (run.seconds, run.outside, run.results, run.problem) == (1.5, 0.75, {"returned": "1"}, "")


@pytest.mark.parametrize(
    "report",
    [
        b"",
        MARKS.replace(b"12.0 done\n", b""),
        MARKS.replace(b"10.5 timed\n", b"10.5 timed\n10.6 done\n10.6 results {}\n10.6 timed\n"),
        MARKS.replace(b"12.0 done", b"12.0 done\n12.0 ended"),
        MARKS.replace(b'{"returned": "1"}', b"[]"),
        MARKS.replace(b"10.5 timed", b"soon timed"),
    ],
)
def test_other_marks_are_forged(report: bytes) -> None:
    run = read_marks(report)
    assert run.problem
    assert run.forged


def test_a_clock_that_went_back_is_nobodys_forgery() -> None:
    run = read_marks(MARKS.replace(b"12.25", b"11.25"))
    assert (bool(run.problem), run.forged) == (True, False)


@pytest.mark.parametrize("noise", [0.0, 0.3, 3.0])
@pytest.mark.parametrize("candidate", [0.5, 1.0, 2.0])
def test_rounds_go_on_while_the_machine_is_noisy_whatever_the_patch_does(noise: float, candidate: float) -> None:
    dice, usual = random.Random(5), {TestedTree.CANDIDATE: candidate, TestedTree.GOLD: 0.5}

    def run(tree: TestedTree) -> WorkloadRun:
        return WorkloadRun(seconds=usual.get(tree, 1.0) * (1 + dice.random() * noise))

    runs = take_turns(run)
    (rounds,) = {len(each) for each in runs.values()}
    assert list(runs) == [TestedTree.BASE, TestedTree.CANDIDATE, TestedTree.GOLD, TestedTree.BASE_AGAIN]
    if not noise:
        assert rounds == ROUNDS
    elif noise < 1:
        assert ROUNDS < rounds < MOST_ROUNDS
    else:
        assert rounds == MOST_ROUNDS


def test_a_gold_patch_without_a_speed_up_asks_for_no_further_round() -> None:
    """To go on until base is slow by chance would make any patch look fast."""
    runs = take_turns(lambda tree: WorkloadRun(seconds=1.01 if tree is TestedTree.GOLD else 1))
    assert {len(each) for each in runs.values()} == {ROUNDS}


def test_a_run_that_fails_ends_the_rounds() -> None:
    problem = {TestedTree.GOLD: "exit status 1"}
    runs = take_turns(lambda tree: WorkloadRun(seconds=1, problem=problem.get(tree, "")))
    assert [len(each) for each in runs.values()] == [1, 1, 1, 0]
