"""The shards of a solver's run as one: solutions, predictions, trajectories, recordings and what they cost.

The merged folder resumes like any run of a solver: ``run.json`` is written first and ``solutions.jsonl`` last, and the
same merge makes a folder whole that a crash left between the two.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.agents.contract import Solution
from assay.agents.llm.budget import BudgetLimits, Spent
from assay.agents.sampling.run import read_spending
from assay.agents.sampling.store import SAMPLES, TOTAL, SavedSolution, SolveStore
from assay.harness.errors import UserError
from assay.harness.files import link_or_copy, read_model, refuse_links, replace_file
from assay.harness.runs.manifest import SHARD, Run, RunKind
from assay.harness.runs.merge import check_alike, check_output, collect_events, merge_manifests
from assay.harness.runs.shards import missing_numbers

Found = Mapping[tuple[int, str], tuple[SolveStore, Solution]]


@dataclass(frozen=True, slots=True)
class SolveMerge:
    """What some runs of a solver give together; nothing is written yet."""

    run: Run
    sources: Sequence[SolveStore]
    solutions: Found
    """The solution of each sample that has one, and the run that it comes from, by sample and instance id."""
    missing: tuple[str, ...]
    spent: Spent
    """What all runs paid."""

    @property
    def limits(self) -> BudgetLimits:
        return BudgetLimits.model_validate_json(self.run.settings.get(TOTAL, "{}"))

    def describe_remainder(self) -> str:
        """Name the part that the shards left of the run's budget, which a shard alone may not use; empty if nothing."""
        limits = self.limits.model_dump(exclude_none=True)
        left = {name: limit - getattr(self.spent, name) for name, limit in limits.items() if name != "seconds"}
        words = [f"${each:.4f}" if name == "cost" else f"{each} {name}" for name, each in left.items() if each > 0]
        return f"{' and '.join(words)} of the run's budget are unused" if words else ""


def plan_solve_merge(sources: Sequence[SolveStore], name: str) -> SolveMerge:
    """Plan one run of several; writes nothing. Raises UserError if they were made differently or overlap."""
    for store in sources:
        refuse_links(store.root)
    runs = [store.run.load_run() for store in sources]
    check_alike([store.run for store in sources], runs, (RunKind.SOLVE,))
    solutions: dict[tuple[int, str], tuple[SolveStore, Solution]] = {}
    missing = []
    for store, run in zip(sources, runs, strict=True):
        if not (run.instance_ids or run.shards):
            raise UserError(f"{store.root} was made before a solver's run named its instances; run its command again")
        found = {(each.sample, each.instance_id): (store, each) for each in _load_solutions(store, run)}
        if both := found.keys() & solutions.keys():
            sample, instance = min(both)
            raise UserError(
                f"{store.root} and {solutions[sample, instance][0].root} both solved {instance}; leave one of them out"
            )
        solutions |= found
        wanted = len(run.instance_ids) * int(run.settings[SAMPLES])
        if len(found) < wanted or not (store.root / "solutions.jsonl").exists():
            missing.append(f"{store.root} has not finished; run its command again")
    shards = [shard for run in runs for shard in run.shards]
    missing += [f"shard {number}/{shards[0].of} is not among the runs" for number in missing_numbers(shards)]
    manifest = merge_manifests(runs, [store.run for store in sources], name)
    manifest = manifest.model_copy(update={"given": {**manifest.given, SHARD: ""}})
    spent = sum((read_spending(store.recording) for store in sources), Spent())
    return SolveMerge(manifest, sources, solutions, tuple(missing), spent)


def _load_solutions(store: SolveStore, run: Run) -> Iterator[Solution]:
    for name in run.instance_ids:
        for sample in range(int(run.settings[SAMPLES])):
            saved = read_model(store.folder(name, sample) / "solution.json", SavedSolution)
            if saved is not None:
                yield saved.solution


def write_solve_merge(merge: SolveMerge, output: SolveStore, adopted: Callable[[], None]) -> list[Solution]:
    """Write the merged run; return its solutions, by sample and id.

    ``output`` is a new folder, an empty one, or that of an earlier merge, which is replaced. ``adopted`` is called for
    each sample. Raises UserError: the folder holds something else, or is one of the sources.
    """
    check_output(output.run, [store.run for store in merge.sources])
    with output.run.lock():
        events = collect_events([store.run for store in merge.sources])
        output.become(merge.run, events)
        for name in sorted({path.name for each in merge.sources for path in each.list_recorded()}):
            files = [each.root / name for each in merge.sources]
            lines = [line for file in files if file.exists() for line in file.read_bytes().split(b"\n")[:-1]]
            replace_file(output.root / name, b"".join(line + b"\n" for line in lines))
        for (sample, name), (source, _) in merge.solutions.items():
            shutil.copytree(
                source.folder(name, sample),
                output.folder(name, sample),
                symlinks=True,
                copy_function=link_or_copy,
            )
            adopted()
        output.run.journal("merged", runs=", ".join(merge.run.merged))
        solutions = [merge.solutions[place][1] for place in sorted(merge.solutions)]
        output.finish((), solutions)
    return solutions
