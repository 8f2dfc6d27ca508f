"""Counter-tests in the place of their originals: a second container, which differs from the first by their text alone.

The graded run has the tests in another spelling, so that code which knows their text knows neither of the two. Only
what would be resolved is run again. A counter-test that passes is run twice more.
"""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from assay.harness.counters.make import make_counters, render_files, render_respelled
from assay.harness.counters.runs import Note, TestRun, silent, summarise
from assay.harness.domain import CounterRun, CounterSet, Status
from assay.harness.evaluation.evaluate import Evaluation, Task
from assay.harness.files import default_cache, replace_file

AGAIN = 2


def find_counters(run: TestRun, key: str, note: Note = silent) -> CounterSet:
    """Return the counter-tests that the cache has under a key, or make and keep them; raises as ``make_counters``."""
    known = load_counters(key)
    if known is None:
        known, file = make_counters(run, note), _get_file(key)
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, known.model_dump_json().encode())
    return known


def load_counters(key: str) -> CounterSet | None:
    """Return the counter-tests that the cache has under a key; None if it has none."""
    with suppress(OSError, ValueError):
        return CounterSet.model_validate_json(_get_file(key).read_bytes())
    return None


def has_counters() -> bool:
    """Return whether the cache may have counter-tests of any instance, which costs less than an instance's key."""
    return _get_file("").parent.is_dir()


def _get_file(key: str) -> Path:
    return default_cache() / "counters" / f"{key}.json"


def respell_tests(task: Task, counters: CounterSet) -> Task:
    """Return the task with its hidden tests in another spelling."""
    files = render_respelled(counters)
    return replace(task, assets=lambda: {**task.assets(), **files})


def note_run(found: Evaluation, done: CounterRun, counters: CounterSet) -> Evaluation:
    """Add to an evaluation a run of counter-tests, and what the graded run had."""
    update = {"respelled": tuple(counters.respelled), "seed": str(counters.seed)}
    return replace(found, evidence=found.evidence.model_copy(update={"counter": done.model_copy(update=update)}))


def run_pair(run: TestRun, found: Evaluation, counters: CounterSet) -> Evaluation:
    """Add to an evaluation what became of its patch's counter-tests; raises as ``TestRun.run``."""
    forms = {test.label: test.form for test in counters.tests}
    files, runs = render_files(counters), list[dict[str, Status]]()
    for _ in range(1 + AGAIN if forms else 0):
        read = run.read_statuses(run.run(run.task.prediction.patch, files))
        runs.append({label: summarise(read(label)) for label in forms})
        if Status.PASSED not in runs[0].values():
            break
    done = CounterRun(
        kind="pair", forms=forms, runs=tuple(runs), missing=counters.missing, compile_only=counters.compile_only
    )
    return note_run(found, done, counters)
