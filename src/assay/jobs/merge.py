"""Shards as one run, of any kind: a solver's together with the evaluations of its samples."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from assay.agents.contract import Solution
from assay.agents.sampling.merge import SolveMerge, plan_solve_merge, write_solve_merge
from assay.agents.sampling.store import EVALUATED, SAMPLES, SolveStore
from assay.harness.runs.manifest import Run, RunKind
from assay.harness.runs.merge import Merge, plan_merge, write_merge
from assay.harness.runs.report import RunReport
from assay.harness.runs.store import RunStore
from assay.jobs.solve import name_evaluated


@dataclass(frozen=True, slots=True)
class RunMerge:
    """What some runs give together, solved or evaluated or both; nothing is written yet."""

    run: Run
    solved: SolveMerge | None = None
    evaluated: Mapping[str, Merge] = field(default_factory=dict)
    """Merged evaluations by the name of their run."""
    absent: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        found = self.solved.missing if self.solved else ()
        return (*found, *self.absent, *(each for merge in self.evaluated.values() for each in merge.missing))

    @property
    def total(self) -> int:
        merges = [every for each in self.evaluated.values() for every in (each, *each.controls.values())]
        return sum(len(each.verdicts) for each in merges) + len(self.solved.solutions if self.solved else ())


def plan_run_merge(sources: Sequence[RunStore], name: str) -> RunMerge:
    """Plan one run of several; writes nothing. Raises UserError if they cannot be one."""
    if sources[0].load_run().kind is not RunKind.SOLVE:
        merge = plan_merge(sources, name)
        return RunMerge(merge.run, evaluated={name: merge})
    solved = plan_solve_merge([SolveStore(each.root) for each in sources], name)
    evaluated, absent = {}, []
    for sample in range(int(solved.run.settings[SAMPLES])):
        beside = [
            RunStore(each.root.with_name(name_evaluated(each.root.resolve().name, sample)))
            for each in sources
            if each.load_run().instance_ids
        ]
        here = [each for each in beside if (each.root / "run.json").exists()]
        if here:
            merged = name_evaluated(name, sample)
            evaluated[merged] = plan_merge(here, merged)
        if here or "yes" in solved.run.settings.get(EVALUATED, ""):
            absent += [
                f"{each.root} is not there; solve that shard with --evaluate" for each in beside if each not in here
            ]
    return RunMerge(solved.run, solved, evaluated, tuple(absent))


def write_run_merge(
    merge: RunMerge, output: RunStore, adopted: Callable[[], None]
) -> tuple[list[Solution], list[RunReport]]:
    """Write the merged run, and those of its evaluations beside it; raises UserError for a folder that is not free."""
    solutions = write_solve_merge(merge.solved, SolveStore(output.root), adopted) if merge.solved else []
    folders = {name: RunStore(output.root.with_name(name)) for name in merge.evaluated} if merge.solved else None
    reports = [
        write_merge(each, folders[name] if folders else output, adopted) for name, each in merge.evaluated.items()
    ]
    return solutions, reports
