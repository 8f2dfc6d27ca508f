"""The developers' own suite: every test file that gold passes, not only the files of the change.

Step 1 of PatchDiff (arXiv 2503.15223); it rejects 7.8 % of the patches that pass their instance's tests. For every
language whose recipe can run single test files; a recipe that always runs everything gives one run of everything.
"""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from assay.harness.differential.generators.base import Context, Found
from assay.harness.differential.sides import Side
from assay.harness.differential.style import is_style
from assay.harness.domain import MISSING, Divergence, Finding, GeneratorResult, Observation, Status
from assay.harness.grade import FAILING, PASSING, steady

NAME = "suites"
FIRST_FILES = 16
"""Files of the first run; each further run takes twice as many, so that a small budget still sees the nearest."""
ENOUGH = 3
"""Confirmations without which nothing counts, however tight the budget."""
MOST_TOLD = 50
"""Tests of one run that are told one by one; a patch may break all."""
LEAST_SECONDS = 60.0
"""A run that has begun is given so long, whatever is left of the budget."""
Statuses = dict[str, Status]


@dataclass(slots=True)
class _Tally:
    """What has been found so far."""

    ran: int = 0
    files: int = 0
    unread: int = 0
    divergences: list[Divergence] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def generate(context: Context) -> Found:
    """Run the test files with the patch, nearest first, as far as the budget goes; and with gold what fails."""
    began, tally = time.monotonic(), _Tally()
    files = context.survey.test_files
    chunks = list(_chunks(files))
    for number, chunk in enumerate(chunks):
        if context.seconds_left <= 0:
            tally.notes.append(f"the budget was spent after {tally.files} of {len(files)} test files")
            break
        _compare(context, chunk, tally)
        if _runs_everything(context, chunks[number:]):
            break
    if tally.unread:
        tally.notes.append(f"{tally.unread} test files give no result, with gold neither")
    result = GeneratorResult(
        name=NAME,
        probes=tally.ran,
        divergences=len(tally.divergences),
        seconds=round(time.monotonic() - began, 3),
        note="; ".join(dict.fromkeys(tally.notes)),
    )
    return Found(result, tuple(tally.divergences))


def _chunks(files: Sequence[str]) -> Iterator[tuple[str, ...]]:
    size, start = FIRST_FILES, 0
    while start < len(files) or not start:
        yield tuple(files[start : start + size])
        start, size = start + size, size * 2


def _runs_everything(context: Context, chunks: Sequence[Sequence[str]]) -> bool:
    """Tell whether the next run would be the same command once more."""
    if len(chunks) < 2:
        return False
    instance = context.sides.instance
    this, following = (context.plan_tests(instance, chunk).command for chunk in chunks[:2])
    return this == following


def _compare(context: Context, chunk: Sequence[str], tally: _Tally) -> None:
    """Run test files with the patch; only those in which something fails are of interest with gold."""
    (statuses,) = _run(context, chunk, (Side.CANDIDATE,))
    if not statuses:  # nothing could be read, or the time was not enough
        _compare_apart(context, chunk, tally)
        return
    tally.files += len(chunk)
    tally.ran += len(statuses)
    suspects = [name for name, status in sorted(statuses.items()) if status in FAILING and not is_style(name)]
    if suspects:
        tally.divergences.extend(_confirm(context, chunk, suspects, tally))


def _compare_apart(context: Context, chunk: Sequence[str], tally: _Tally) -> None:
    """Compare the halves of a run that gave nothing: one file that cannot be read takes all others along."""
    middle = len(chunk) // 2
    if not middle:
        (of_gold,) = _run(context, chunk, (Side.GOLD,))
        suspects = [name for name in sorted(of_gold or {}) if _passes(of_gold, name) and not is_style(name)]
        tally.divergences.extend(_confirm(context, chunk, suspects, tally))
        tally.unread += not of_gold
        return
    for half in (chunk[:middle], chunk[middle:]):
        if context.seconds_left > 0:
            _compare(context, half, tally)


def _confirm(context: Context, chunk: Sequence[str], suspects: list[str], tally: _Tally) -> list[Divergence]:
    """Repeat the files of suspected tests on both sides; what gold does not pass, or wavers on either, is dropped."""
    files = [path for path in chunk if any(name.startswith(path) for name in suspects)] or chunk
    rounds, kept = 0, suspects
    of_candidate: Statuses | None = None
    wanted = context.settings.confirmations
    while kept and rounds < wanted and (context.seconds_left > 0 or rounds < min(ENOUGH, wanted)):
        of_gold, of_candidate = _run(context, files, (Side.GOLD, Side.CANDIDATE))
        if of_gold is None or of_candidate is None:
            tally.notes.append("tests that fail could not be repeated in time")
            return []
        kept = [name for name in kept if _passes(of_gold, name) and not _passes(of_candidate, name)]
        files = [path for path in files if any(name.startswith(path) for name in kept)] or files
        rounds += 1
    if not kept:
        return []
    if rounds < wanted:
        tally.notes.append(f"the budget left time for {rounds} of {wanted} confirmations")
    (of_base,) = _run(context, files, (Side.BASE,))
    if len(kept) > MOST_TOLD:
        tally.notes.append(f"{len(kept)} tests fail, of which {MOST_TOLD} are told")
    return [_divergence(name, of_base or {}, of_candidate or {}, rounds) for name in kept[:MOST_TOLD]]


def _divergence(name: str, base: Statuses, candidate: Statuses, rounds: int) -> Divergence:
    return Divergence(
        finding=Finding.REGRESSION,
        generator=NAME,
        probe=name,
        target=name,
        base=_observed(base, name),
        gold=Observation(kind="value", type="test", text=Status.PASSED),
        candidate=_observed(candidate, name),
        confirmed=rounds,
    )


def _observed(statuses: Statuses, name: str) -> Observation:
    return Observation(kind="value", type="test", text=statuses[name]) if name in statuses else MISSING


def _run(context: Context, files: Sequence[str], sides: Sequence[Side]) -> list[Statuses | None]:
    """Return what the tests of files do on each side; None where the time was not enough."""
    plan = context.plan_tests(context.sides.instance, files)
    seconds = min(plan.limits.seconds, max(LEAST_SECONDS, context.seconds_left))
    plan = plan.model_copy(update={"limits": plan.limits.model_copy(update={"seconds": seconds})})

    def one(side: Side) -> Statuses | None:
        evaluation = context.sides.test(side, plan)
        if evaluation.evidence.timed_out:
            return None
        own = steady(context.sides.instance, evaluation.evidence.report.tests)
        return {name: status for name, status in own.items() if name not in evaluation.evidence.canaries}

    with ThreadPoolExecutor(len(sides)) as pool:
        return list(pool.map(one, sides))


def _passes(statuses: Statuses | None, name: str) -> bool:
    return (statuses or {}).get(name) in PASSING
