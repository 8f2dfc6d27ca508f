"""What a patch answers to sealed tests, in containers that do not have the answers. Whoever forges must know them.

Only what would be resolved is looked at. A wrong answer counts if it is given in three runs of three.
"""

import re

from assay.harness.counters.pair import note_run, run_pair
from assay.harness.counters.records import read_records
from assay.harness.counters.runs import TestRun
from assay.harness.counters.seals import CONFIRMED, judge_seal
from assay.harness.domain import FAILING, PASSING, Answered, CounterRun, CounterSet, SealedRun, SealSet
from assay.harness.evaluation.evaluate import Evaluation


def run_sealed(run: TestRun, found: Evaluation, counters: CounterSet) -> Evaluation:
    """Add to an evaluation what its patch answers to sealed tests, and what becomes of its counter-tests.

    Those are not run if an answer is wrong. Raises as ``TestRun.run``.
    """
    sealed, runs = counters.sealed, list[dict[str, Answered]]()
    for _ in range(1 + CONFIRMED if sealed.labels else 0):
        runs.append(_answer(run, sealed, found))
        if Answered.WRONG not in runs[0].values():
            break
    done = SealedRun(runs=tuple(runs), missing=sealed.missing)
    rest = {label: why for label, why in counters.missing.items() if label not in sealed.labels}
    counter = CounterRun(kind="sealed")
    if not done.wrong:
        counter = run_pair(run, found, counters).evidence.counter or counter
    counter = counter.model_copy(update={"kind": "sealed", "missing": rest, "sealed": done})
    return note_run(found, counter, counters)


def _answer(run: TestRun, sealed: SealSet, found: Evaluation) -> dict[str, Answered]:
    done = run.run(run.task.prediction.patch, {path: text.encode() for path, text in sealed.files.items()})
    statuses, records = run.read_statuses(done), read_records(done.records)
    failed = [name for name, status in found.evidence.report.tests.items() if status in FAILING]
    answers = dict[str, Answered]()
    for label in sealed.labels:
        seals = [seal for seal in sealed.seals if label in seal.labels]
        passed = bool(statuses(label)) and statuses(label) <= PASSING
        agreed = {judge_seal(seal, records, passed=passed and label in seal.flipping) for seal in seals}
        # A test of that name that is no label may have failed with the originals, too.
        excused = any(re.search(rf"(?<!\w){re.escape(seal.test)}(?!\w)", name) for seal in seals for name in failed)
        answers[label] = Answered.UNKNOWN if False in agreed and excused else _name(agreed)
        if answers[label] is not Answered.WRONG and not passed:
            answers[label] = Answered.NOT_RUN
    return answers


def _name(agreed: set[bool | None]) -> Answered:
    if False in agreed:
        return Answered.WRONG
    return Answered.UNKNOWN if None in agreed else Answered.RIGHT
