"""PatchDiff from the command line: who compares, and what a person sees of it."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from assay.cli import console
from assay.cli.workbench import Workbench
from assay.harness.domain import Divergence, GeneratorResult, PatchDiffFinding, PatchDiffResult
from assay.harness.errors import UserError
from assay.harness.patchdiff.contract import Ask, Settings
from assay.harness.patchdiff.run import Finished, PatchDiffRunner
from assay.harness.runs.report import RunReport
from assay.harness.runs.runner import Runner
from assay.harness.runs.store import RunStore

SHOWN = 3
"""Divergences of a patch that are told one by one."""
EVERY = 30.0
"""Seconds between two lines that tell what a long comparison is at."""
EVERY_LIVE = 1.0
"""The same where they change one line of a terminal."""
WIDTH = 100
"""Characters of an observation that are shown."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A language model behind an OpenAI-compatible endpoint."""

    name: str
    base_url: str = ""
    cassette: Path | None = None
    """Keeps its answers, and gives them again."""


def choice(name: str | None, base_url: str | None, cassette: Path | None) -> ModelChoice | None:
    """Return the model that the options name; None if they name none."""
    return ModelChoice(name, base_url or "", cassette) if name else None


def settings(generators: str, *, budget: float, seed: int, confirmations: int) -> Settings:
    """Return what the options say; raises UserError (PluginError) for an unknown generator."""
    from assay.harness.patchdiff.generators import find_generators

    names = tuple(find_generators(name.strip() for name in generators.split(",") if name.strip()))
    return Settings(names, seed=seed, budget=budget, confirmations=confirmations)


def make_patchdiff_runner(
    bench: Workbench, runner: Runner, wanted: Settings | None, model: ModelChoice | None
) -> PatchDiffRunner:
    """Return who compares the resolved patches of a run, with the run's own store, executor and jobs."""
    if wanted is None:
        raise UserError("no generators are named")
    if "llm" in wanted.generators and model is None:
        raise UserError("the generator llm needs --model NAME (and --base-url URL, or OPENAI_BASE_URL)")
    return PatchDiffRunner(
        store=runner.store,
        engine=runner.engine,
        prepare=runner.prepare,
        executor=runner.executor,
        settings=wanted,
        plan_tests=bench.plan_files,
        ask=_ask(model),
        model=model.name if model else "",
        jobs=runner.jobs,
        fresh=runner.fresh,
        abort=runner.abort,
    )


def _ask(model: ModelChoice | None) -> Ask | None:
    if model is None:
        return None
    from assay.agents.llm.ask import make_ask

    return make_ask(model.name, model.base_url, cassette=model.cassette)


@contextmanager
def watched(comparer: PatchDiffRunner, total: int) -> Iterator[PatchDiffRunner]:
    """Give a comparer whose work a person sees: a live line on a terminal, else what it is at every half minute.

    Args:
        comparer: has nobody to tell so far.
        total: comparisons that it will be asked for.
    """
    with console.live_line(total, "patchdiff") as line:
        finished = _teller(total, line)
        if line is None:
            yield replace(comparer, finished=finished, note=console.say, every=EVERY)
        else:
            yield replace(comparer, finished=finished, note=line, every=EVERY_LIVE)


def _teller(total: int, line: console.Line | None) -> Finished:
    lock = threading.Lock()
    done = 0

    def finished(comparison: PatchDiffResult, known: bool) -> None:
        nonlocal done
        with lock:
            done += 1
            took = "known already" if known else f"{comparison.seconds:.1f} s"
            console.say(f"[{done}/{total}] {comparison.instance_id}: {comparison.finding} ({took})")
            if line is not None:
                line("", 1)

    return finished


def show(store: RunStore, report: RunReport) -> None:
    """Print what the comparisons found: a row for each, the first divergences, and the rates."""
    figures = report.patchdiff
    if figures is None or not figures.compared:
        print("PatchDiff: nothing is resolved, so nothing was compared")
        return
    saved = [store.load_patchdiff(name) for name in figures.finding_of]
    comparisons = [each.comparison for each in saved if each is not None]
    columns = ("instance", "against gold", "targets", "probes that count", "divergences", "s", "note")
    console.print_rows(columns, [_row(each) for each in comparisons])
    for each in comparisons:
        for line in _lines(store, each):
            print(line)
    print(
        f"PatchDiff: {figures.compared} resolved compared, {figures.resolved_minus_regressions} without regression, "
        f"{figures.suspicious} suspicious, {figures.not_assessed} not assessed"
        + (f"; {figures.null_divergences} differences between gold and its copy" if figures.null_divergences else "")
    )


def _row(comparison: PatchDiffResult) -> tuple[str, ...]:
    def per_generator(results: Sequence[GeneratorResult], name: str) -> str:
        return ", ".join(f"{each.name} {getattr(each, name)}" for each in results)

    notes = "; ".join(f"{each.name}: {each.note}" for each in comparison.generators if each.note)
    reached = sum(each.reached for each in comparison.generators)
    return (
        comparison.instance_id,
        str(comparison.finding),
        str(len(comparison.targets)),
        str(reached),
        per_generator([each for each in comparison.generators if each.divergences], "divergences") or "0",
        f"{comparison.seconds:.0f}",
        notes or comparison.error,
    )


def _lines(store: RunStore, comparison: PatchDiffResult) -> list[str]:
    lines = []
    for each in comparison.divergences[:SHOWN]:
        lines.append(f"  {comparison.instance_id}: {each.finding}, {each.generator}: {each.target or each.probe}")
        if each.finding is not PatchDiffFinding.REGRESSION:
            lines.append(f"    gold {_short(each, 'gold')}, this patch {_short(each, 'candidate')}")
        else:
            lines.append(f"    passes with gold, fails with this patch, {each.confirmed} times of {each.confirmed}")
        if each.reproduction:
            folder = store.root / "instances" / comparison.instance_id / "patchdiff"
            lines.append(f"    to see it: {folder / each.reproduction}")
    more = len(comparison.divergences) - SHOWN
    return [*lines, f"  {comparison.instance_id}: ... and {more} more"] if more > 0 else lines


def _short(divergence: Divergence, side: str) -> str:
    seen = getattr(divergence, side)
    if seen.kind != "value":
        return f"{seen.kind} {seen.type}".strip()
    text = f"{seen.type} {seen.text}"
    return text if len(text) <= WIDTH else f"{text[:WIDTH]}..."
