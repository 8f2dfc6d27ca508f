"""The counter-tests of instances, as every front door has them made."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff

from assay.harness.counters.make import render_files
from assay.harness.counters.pair import find_counters
from assay.harness.counters.runs import TestRun
from assay.harness.domain import CounterSet, Instance, Prediction
from assay.harness.runs.each import do_for_each
from assay.harness.runs.keys import counters_key
from assay.jobs.workplace import Workplace


@dataclass(frozen=True, slots=True)
class Countered:
    """What came of one instance; without counter-tests there is an error."""

    instance_id: str
    counters: CounterSet | None
    error: str = ""


def make_counter_tests(place: Workplace, instances: Sequence[Instance]) -> list[Countered]:
    """Make the counter-tests of instances, or take them from the cache; raises RunStopped, or EngineUnavailable."""
    bench, made = place.bench, dict[str, CounterSet]()

    def make(instance: Instance) -> str:
        gold = Prediction(instance_id=instance.id, model="gold", patch=instance.gold_patch)
        task = place.task(instance, gold)
        key = counters_key(task)
        with bench.image(task.instance, gold.patch) as image:
            task = replace(task, plan=bench.aim(task.plan, task.instance), assets=bench.assets(task.instance))
            run = TestRun(task, image, bench.engine, {"assay.instance": instance.id})
            made[instance.id] = find_counters(run, key, lambda step: place.view.note(f"{instance.id}: {step}"))
        return f"{len(made[instance.id].tests)} counter-tests"

    with place.view.doing(len(instances), "making counter-tests") as progress:
        done = do_for_each(instances, make, place.jobs, progress, abort=bench.abort)
    return [Countered(each.instance_id, made.get(each.instance_id), each.error) for each in done]


def show_changes(counters: CounterSet) -> Iterator[str]:
    """Yield the lines of diffs between the hidden tests and the counter-tests, and the tests without their answers."""
    countered = {path: content.decode() for path, content in render_files(counters).items()}
    for texts in (countered, counters.sealed.files):
        for path, text in sorted(texts.items()):
            before, after = counters.files[path].splitlines(), text.splitlines()
            yield from unified_diff(before, after, path, path, n=1, lineterm="")
