"""Counter-tests beside their originals: after them, in the same session, under names that are drawn.

They cost a fraction of a second, so they are in every evaluation of an instance whose counter-tests are known. One that
passes only raises a doubt: the pair decides.
"""

import secrets
from collections.abc import Callable
from dataclasses import replace

from assay.harness.benchmarks import find_benchmark
from assay.harness.counters.pair import run_pair
from assay.harness.counters.runs import TestRun
from assay.harness.counters.siblings import draw_siblings, read_siblings
from assay.harness.domain import CounterRun, CounterSet, Outcome, Status
from assay.harness.evaluation.evaluate import Evaluation, Task


def run_beside(run: TestRun, counters: CounterSet, evaluate: Callable[[Task], Evaluation]) -> Evaluation:
    """Evaluate a patch with its counter-tests beside their originals.

    Where no copy has run they may be why tests failed: then these are run again without. Raises as ``evaluate`` and
    ``run_pair``.
    """
    task, seed = run.task, secrets.token_hex(16)
    siblings = draw_siblings(counters.beside, seed)
    found = evaluate(replace(task, siblings=siblings))
    seen = read_siblings(task.plan, found, siblings)
    done = found.evidence
    if find_benchmark(task.instance.rule).judge(task.instance, done).outcome is not Outcome.RESOLVED:
        had_time = done.exit_code is not None and not done.timed_out and not done.stopped_early
        return evaluate(task) if siblings.files and not seen and had_time else found
    seen = seen or dict.fromkeys(siblings.names, Status.MISSING)
    pair = run_pair(run, found, counters).evidence.counter if Status.PASSED in seen.values() else None
    counter = CounterRun(
        kind="beside",
        forms={test.label: test.form for test in counters.tests if test.label in seen},
        runs=(seen, *(pair.runs if pair else ())) if seen else (),
        missing=counters.missing,
        compile_only=counters.compile_only,
        not_beside=tuple(test.label for test in counters.tests if test.label not in seen),
        seed=seed if seen else "",
    )
    return replace(found, evidence=found.evidence.model_copy(update={"counter": counter}))
