from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.harness.benchmarks import find_benchmark
from assay.harness.domain import Evidence, Instance, Recipe, Rule, Status
from assay.harness.domain.evidence import Apply, ApplyStatus, TestReport, Tripwire
from assay.harness.errors import EngineError, EnvironmentFailure, RunStopped
from assay.harness.evaluation.evaluate import Evaluation, Task
from assay.harness.patches.gate import gate
from assay.instances.setup.project import Project
from assay.instances.setup.trial import NO_TESTS, UNAPPLIED, BuiltTrial, TriedRecipe, write_removal
from toy import make_instance


class PlayedBuilder:
    """Fails as asked for, and counts how often it is asked; has an image for everything then."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.asked = 0

    def lone(self) -> "PlayedBuilder":
        return self

    @contextmanager
    def image(self, instance: Instance) -> Iterator[str]:
        assert isinstance(instance.environment, Recipe)
        self.asked += 1
        if self.errors:
            raise self.errors.pop(0)
        yield "image"


def trial_of(builder: PlayedBuilder, instance: Instance) -> BuiltTrial:
    return BuiltTrial(instance, builder, None)  # type: ignore[arg-type]


def test_a_failed_build_is_a_result_with_its_whole_log(tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    log.write_text("much\nfatal error: x.h: No such file\n")
    builder = PlayedBuilder(EnvironmentFailure("image a could not be built", log_path=str(log), tail="the end"))
    found = trial_of(builder, make_instance()).run(Recipe(), 60)
    assert (found.problem, found.share) == ("image a could not be built", 0.0)
    assert "x.h" in found.output
    gone = PlayedBuilder(EnvironmentFailure("no lock", tail="the end"))
    assert trial_of(gone, make_instance()).run(Recipe(), 60).output == "no lock\nthe end"


def test_an_engine_that_fails_is_asked_three_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.instances.setup.trial.PAUSE", 0.0)
    weak = PlayedBuilder(EngineError("overloaded"), EngineError("overloaded"), EnvironmentFailure("at last"))
    assert trial_of(weak, make_instance()).run(Recipe(), 60).problem == "at last"
    dead = PlayedBuilder(*(EngineError("dead") for _ in range(3)))
    with pytest.raises(EngineError, match="dead"):
        trial_of(dead, make_instance()).run(Recipe(), 60)
    stopped = PlayedBuilder(RunStopped("signal"))
    with pytest.raises(RunStopped):
        trial_of(stopped, make_instance()).run(Recipe(), 60)
    assert (weak.asked, dead.asked, stopped.asked) == (3, 3, 1)


@pytest.mark.parametrize(("seen", "problem"), [(Status.PASSED, NO_TESTS), (Status.MISSING, "no test result was found")])
def test_a_run_of_assays_own_tests_alone_found_no_test(
    seen: Status, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    evidence = Evidence(
        instance_id="calc",
        apply=Apply(status=ApplyStatus.EMPTY),
        exit_code=1,
        tripwires={"t": Tripwire(expected=seen, reported=seen)},
    )
    tasks: list[Task] = []

    def evaluate(task: Task, *_: object) -> Evaluation:
        tasks.append(task)
        return Evaluation(evidence)

    monkeypatch.setattr("assay.instances.setup.trial.evaluate", evaluate)
    instance = make_instance(rule=Rule.SWE_REBENCH)
    assert trial_of(PlayedBuilder(), instance).run(Recipe(), 60).problem.startswith(problem)
    assert tasks[0].label_test is find_benchmark(Rule.SWE_REBENCH).label_test, "each test counts under one name"


@pytest.mark.parametrize(
    ("status", "tripwires", "problem"),
    [
        (Status.PASSED, False, "no test has failed, and the tests ended with exit status 1"),
        (Status.PASSED, True, ""),  # some of Assay's own fail
        (Status.FAILED, False, ""),
    ],
)
def test_a_run_that_ends_early_is_no_result(
    status: Status, tripwires: bool, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    evidence = Evidence(
        instance_id="calc",
        apply=Apply(status=ApplyStatus.EMPTY),
        exit_code=1,
        tripwires={"t": Tripwire(expected=Status.FAILED, reported=Status.FAILED)} if tripwires else {},
        report=TestReport(tests={"adds": status}),
    )
    monkeypatch.setattr("assay.instances.setup.trial.evaluate", lambda *_: Evaluation(evidence))
    assert trial_of(PlayedBuilder(), make_instance()).run(Recipe(), 60).problem == problem


def test_a_patch_is_applied_before_the_suite_and_one_that_does_not_apply_is_a_problem(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tasks: list[Task] = []
    evidence = Evidence(instance_id="calc", apply=Apply(status=ApplyStatus.REJECTED), exit_code=None)
    played = Evaluation(evidence)
    monkeypatch.setattr("assay.instances.setup.trial.evaluate", lambda task, *_: tasks.append(task) or played)
    assert trial_of(PlayedBuilder(), make_instance()).run(Recipe(), 60, "a patch").problem == UNAPPLIED
    assert tasks[0].prediction.patch == "a patch"


def test_sources_are_moved_away_and_neither_tests_nor_what_steers_them() -> None:
    paths = ("src/a.js", "test/a.test.js", "jest.config.js", "readme.md", "src/\u00e4.js", "lib/b c.js")
    patch = write_removal(Project("acme/calc", "javascript", make_instance().created_at, paths, {}))
    assert gate(patch).paths == ("src/a.js", "src/a.js.moved")


@pytest.mark.parametrize(
    "counts", ["\x1b[1mTest Suites: \x1b[22m\x1b[31m1 failed\x1b[39m, 4 total", " Test Files  1 failed | 3 passed (4)"]
)
def test_a_file_that_cannot_be_loaded_hides_any_number_of_tests(counts: str) -> None:
    tests = {f"adds {number}": Status.PASSED for number in range(99)}
    assert TriedRecipe(output=f"\n{counts}\n", tests={**tests, "test/b.js": Status.ERROR}).share == 0.75
    assert TriedRecipe(output=f"\n{counts}\n", tests={**tests, "fails": Status.FAILED}).share == 0.99
