"""One comparison of a patch with gold: four trees, a survey, generators in turns, and the finding."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from assay.harness.domain import GeneratorResult, PatchDiffFinding, PatchDiffResult
from assay.harness.errors import AssayError, EngineUnavailable, RunStopped
from assay.harness.evaluation.evaluate import Task
from assay.harness.patchdiff.contract import Ask, Context, Contribution, Generate, Generator, PlanTests, Settings
from assay.harness.patchdiff.decide import ORDER, conclude, soften_lone
from assay.harness.patchdiff.generators import find_generators
from assay.harness.patchdiff.sides import ForgedSideError, SideError, Sides
from assay.harness.patchdiff.survey import survey
from assay.harness.runs.pulse import Note, silent


@dataclass(frozen=True, slots=True)
class PatchDiffRecord:
    """A comparison, and the test files that reproduce its divergences, by name."""

    comparison: PatchDiffResult
    files: Mapping[str, str] = field(default_factory=dict)


def assess(
    sides: Sides, settings: Settings, plan_tests: PlanTests, ask: Ask | None = None, note: Note = silent
) -> PatchDiffRecord:
    """Compare a patch with the gold patch of its instance. A generator that fails leaves the results of the others.

    Raises:
        EngineError: the engine failed before the trees were known, or is unavailable, or the run was stopped.
        PluginError: a generator is unknown.
    """
    began = time.monotonic()
    generators = find_generators(settings.generators)
    try:
        note("surveying the trees")
        context = Context(sides, survey(sides), settings, plan_tests, ask, began, note)
        found = _take_turns(context, generators)
        reached = _count_reached(sides.instance.language, generators.values(), found)
    except SideError as error:
        return PatchDiffRecord(not_assessed(sides.task, settings, str(error)))
    says_nothing = all(one.error for one in found) or any(one.forged for one in found)
    divergences = soften_lone([each for one in found for each in one.divergences])
    divergences = sorted(divergences, key=lambda each: ORDER.index(each.finding))
    comparison = PatchDiffResult(
        instance_id=sides.instance.id,
        model=sides.task.prediction.model,
        finding=conclude(divergences, 0 if says_nothing else reached),
        divergences=tuple(divergences),
        generators=tuple(one.result for one in found),
        targets=tuple(each.label for each in context.survey.targets),
        seed=settings.seed,
        seconds=round(time.monotonic() - began, 3),
        error="; ".join(one.error for one in found if one.error),
    )
    return PatchDiffRecord(comparison, {name: text for one in found for name, text in one.files.items()})


def not_assessed(task: Task, settings: Settings, error: str) -> PatchDiffResult:
    return PatchDiffResult(
        instance_id=task.instance.id,
        model=task.prediction.model,
        finding=PatchDiffFinding.NOT_ASSESSED,
        seed=settings.seed,
        error=error,
    )


def _count_reached(language: str, generators: Iterable[Generator], found: Sequence[Contribution]) -> int:
    """Count the probes that executed a target. The tests of a suite count only where no generator can aim."""
    pairs = zip(generators, found, strict=True)
    aimed = [one for generator, one in pairs if generator.aims and generator.knows(language)]
    return sum(one.result.reached for one in aimed or found)


def _take_turns(context: Context, generators: Mapping[str, Generator]) -> list[Contribution]:
    """Give every generator a turn, then a second one to each that has more to do.

    In the first round each has an equal share of the time left, and one share is kept for the second.
    """
    found = {name: _begin(context, name, each) for name, each in generators.items()}
    waiting = {name: each.generate for name, each in generators.items() if not found[name].result.note}
    for kept in (1, 0):
        for place, (name, generate) in enumerate(list(waiting.items())):
            share = context.seconds_left / (len(waiting) - place + kept)
            if share > 0:
                found[name] = _spend(replace(context, turn=context.now + share), found[name], generate)
        waiting = {name: more for name in waiting if (more := found[name].more)}
    return [_finish(each) for each in found.values()]


def _begin(context: Context, name: str, generator: Generator) -> Contribution:
    """Return a generator's contribution before its first turn; its note says why it gets none."""
    known = generator.knows(context.sides.instance.language)
    note = "" if known else f"only for {', '.join(sorted(generator.languages))}"
    return Contribution(GeneratorResult(name=name, note=note))


def _finish(found: Contribution) -> Contribution:
    idle = not (found.result.seconds or found.result.note)
    late = {"note": "skipped: the budget was spent"} if idle else {}
    return replace(found, result=found.result.model_copy(update=late))


def _spend(context: Context, before: Contribution, generate: Generate) -> Contribution:
    """Give a generator one turn. Its failure is its own, unless the engine is unavailable or the run was stopped."""
    name, began = before.result.name, time.monotonic()
    context.note(name)
    try:
        found = generate(replace(context, note=lambda text: context.note(f"{name}: {text}")))
    except (EngineUnavailable, RunStopped):
        raise
    except ForgedSideError as error:
        found = replace(_make_failure(before, str(error)), forged=True)
    except AssayError as error:  # an engine that failed, a model that does not answer, a package that is not there
        found = _make_failure(before, str(error))
    except Exception as error:  # a bug of the generator must not cost what the others find
        found = _make_failure(before, f"internal error: {error!r}")
    seconds = round(before.result.seconds + time.monotonic() - began, 3)
    return replace(found, result=found.result.model_copy(update={"seconds": seconds}))


def _make_failure(before: Contribution, problem: str) -> Contribution:
    result = before.result.model_copy(update={"note": f"failed: {problem}"})
    return replace(before, result=result, error=f"{result.name}: {problem}", more=None)
