"""One comparison when its engine or one of its generators breaks; on the engine that acts."""

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from assay.harness.domain import GeneratorResult, Instance, PatchDiffFinding, PatchDiffResult, Prediction, TestPlan
from assay.harness.engines.base import Engine
from assay.harness.engines.fake import FakeEngine, image_name
from assay.harness.engines.faulty import FaultyEngine
from assay.harness.errors import AssayError, EngineError, EngineUnavailable, ImageMissing, RunStopped
from assay.harness.evaluation.evaluate import Task
from assay.harness.patchdiff import assess as assessing
from assay.harness.patchdiff import generators
from assay.harness.patchdiff.assess import assess
from assay.harness.patchdiff.contract import Context, Contribution, Generator, Settings
from assay.harness.patchdiff.sides import ForgedSideError, Side, Sides

pytestmark = pytest.mark.slow

PLAN = TestPlan(command="true", report_path="/tmp/report.json", report_format="status_json")
MODULE = "acme_generators"
Install = Callable[..., str]


def fake(instance: Instance) -> FakeEngine:
    return FakeEngine({image_name(instance): instance})


def compared(instance: Instance, engine: Engine, *generators: str, patch: str = "") -> PatchDiffResult:
    prediction = Prediction(instance_id=instance.id, patch=patch or instance.gold_patch)
    sides = Sides(Task(instance, prediction, PLAN), image_name(instance), engine, pause=0)
    return assess(sides, Settings(generators, confirmations=3), lambda _instance, _files: PLAN).comparison


@pytest.fixture
def generator(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install somebody's generator under a name."""
    module = ModuleType(MODULE)
    monkeypatch.setitem(sys.modules, MODULE, module)

    def install(name: str, error: Exception | None = None, reached: int = 0, **more: Any) -> str:
        def generate(_context: Context) -> Contribution:
            if error:
                raise error
            return Contribution(GeneratorResult(name=name, reached=reached))

        setattr(module, name, Generator(generate, **more))
        return f"{MODULE}:{name}"

    return install


@pytest.mark.parametrize("kind", ["error", "timeout", "cut"])
def test_one_fault_at_any_call_changes_no_finding(instance: Instance, kind: str) -> None:
    wrong = instance.gold_patch.replace("a + b", "a * b")
    met: Counter[str] = Counter()
    for number in range(1, 1000):
        engine = FaultyEngine(fake(instance), number, kind, seconds=0.001)
        comparison = compared(instance, engine, "suites", patch=wrong)
        assert (comparison.finding, comparison.error) == (PatchDiffFinding.REGRESSION, ""), engine.failed
        met.update(engine.failed)
        if not engine.failed:
            break
    assert set(met) == {"open", "exec", "end", "get", "remove", "find_image"}


def test_forged_results_of_a_side_silence_every_generator(instance: Instance, generator: Install) -> None:
    forged = generator("forged", ForgedSideError(Side.CANDIDATE, "exit status 0 although tests failed"))
    comparison = compared(instance, fake(instance), forged, generator("whole", reached=50))
    assert comparison.finding is PatchDiffFinding.NOT_ASSESSED
    assert "the results of the candidate tree cannot be trusted: exit status 0" in comparison.error


def test_regression_stands_beside_forged_results(instance: Instance, generator: Install) -> None:
    forged = generator("forged", ForgedSideError(Side.CANDIDATE, "probe 'x' has 2 results"))
    wrong = instance.gold_patch.replace("a + b", "a * b")
    assert compared(instance, fake(instance), "suites", forged, patch=wrong).finding is PatchDiffFinding.REGRESSION


@pytest.mark.parametrize("error", [EngineError("no such container"), ZeroDivisionError(), AssayError("no answer")])
def test_failure_of_one_generator_leaves_results_of_the_others(
    instance: Instance, generator: Install, error: Exception
) -> None:
    comparison = compared(instance, fake(instance), generator("broken", error), generator("whole", reached=50))
    assert comparison.finding is PatchDiffFinding.NO_DIFFERENCE_FOUND
    broken, whole = comparison.generators
    assert (str(error) or "ZeroDivisionError") in broken.note
    assert whole.reached == 50
    assert comparison.error.startswith(f"{MODULE}:broken: "), "so the next run tries again"


def test_suite_counts_as_reached_only_where_no_generator_can_aim(
    generator: Install, instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = {
        "suites": generator("suites", reached=700, aims=False),
        "amplify": generator("amplify", reached=3, languages=frozenset({instance.language})),
        "foreign": generator("foreign", languages=frozenset({"another"})),
    }
    monkeypatch.setattr(generators.GENERATORS, "parts", named)
    assert compared(instance, fake(instance), "suites").finding is PatchDiffFinding.NO_DIFFERENCE_FOUND
    assert compared(instance, fake(instance), "suites", "amplify").finding is PatchDiffFinding.NOT_ASSESSED
    assert compared(instance, fake(instance), "suites", "foreign").finding is PatchDiffFinding.NO_DIFFERENCE_FOUND


def test_generators_take_turns_with_equal_shares_and_the_rest_goes_to_those_that_have_more_to_do(
    instance: Instance, generator: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares: list[tuple[str, float]] = []

    def again(context: Context) -> Contribution:
        shares.append(("greedy", context.seconds_left))
        return Contribution(GeneratorResult(name="greedy", reached=20))

    def greedy(context: Context) -> Contribution:
        return replace(again(context), more=again)

    def modest(context: Context) -> Contribution:
        shares.append(("modest", context.seconds_left))
        return Contribution(GeneratorResult(name="modest", reached=1))

    known = {"greedy": Generator(greedy), "modest": Generator(modest)}
    monkeypatch.setattr(assessing, "find_generators", lambda _names: known)
    compared(instance, fake(instance), *known)
    assert [name for name, _ in shares] == ["greedy", "modest", "greedy"]
    assert [round(seconds, -1) for _, seconds in shares] == [100, 150, 300], "of 300, nothing was used"


def test_failure_in_a_later_turn_leaves_what_was_found_before(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_context: Context) -> Contribution:
        raise EngineError("gone")

    def begin(_context: Context) -> Contribution:
        return Contribution(GeneratorResult(name="acme", reached=50), more=fail)

    monkeypatch.setattr(assessing, "find_generators", lambda _names: {"acme": Generator(begin)})
    comparison = compared(instance, fake(instance), "acme")
    assert comparison.generators[0].reached == 50
    assert comparison.error == "acme: gone"


def test_failure_of_all_generators_is_not_assessed(instance: Instance, generator: Install) -> None:
    error = EngineError("no such container")
    comparison = compared(instance, fake(instance), generator("one", error), generator("other", error))
    assert comparison.finding is PatchDiffFinding.NOT_ASSESSED
    assert comparison.error.count("no such container") == 2


@pytest.mark.parametrize("error", [EngineUnavailable("gone"), RunStopped("told to stop")])
def test_unavailable_engine_or_stop_is_raised(instance: Instance, generator: Install, error: Exception) -> None:
    with pytest.raises(type(error)):
        compared(instance, fake(instance), generator("last", error), generator("whole", reached=50))


def test_missing_image_is_not_asked_for_twice(instance: Instance) -> None:
    engine = FaultyEngine(FakeEngine({}), 0)
    with pytest.raises(ImageMissing):
        compared(instance, engine, "suites")
    assert engine.calls.count("open") == 3, "base, gold and the candidate"
