"""Runs of one data set side by side: who wins where, whether chance alone could make it, and which instances overlap.

The statistics are those of ``assay report compare``, from the same functions.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from math import comb
from pathlib import Path

from assay.harness.domain import Outcome
from assay.harness.errors import UserError
from assay.harness.metrics.comparison import Comparison, RunResults, compare, load_results
from assay.harness.runs.manifest import Run, RunKind
from assay.harness.runs.store import RunStore
from assay.harness.statistics import SAMPLES
from assay.viewer.charts import Picture
from assay.viewer.groups import find_groups
from assay.viewer.index import get_stamp
from assay.viewer.page import Keys, PageKind
from assay.viewer.pictures import RunPoint, cost_against_rate, overlap
from assay.viewer.runs import ViewedRun, Viewer
from assay.viewer.text import readable

FEWEST, DRAWS = 1000, 6_000_000
"""The least resamples of the bootstrap; otherwise, the most draws of a repository for all intervals."""
OWN = {"agent", "agent_settings", "oracle"}  # settings in which runs of solvers differ by their nature
AND = "+"  # stands between the keys of runs; no key has it


@dataclass(frozen=True, slots=True)
class RepoLine:
    """One repository: how many of its instances each run resolves."""

    repo: str
    instances: int
    resolved: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CompareView:
    """Two or more runs, or the reason for which they cannot be compared."""

    runs: tuple[ViewedRun, ...]
    names: tuple[str, ...] = ()
    """The runs' names without their common parts."""
    problem: str = ""
    result: Comparison | None = None
    wins: tuple[tuple[int | None, ...], ...] = ()
    """Row and column are runs: instances that the row's resolves and the column's does not; None on the diagonal."""
    differing: int = 0
    """Instances that some runs resolve and others do not."""
    rows: tuple[tuple[str, ...], ...] = ()
    """Id, repository and each run's outcome of the instances that count, for the script."""
    repos: tuple[RepoLine, ...] = ()
    left_out: tuple[tuple[str, tuple[str, ...]], ...] = ()
    pictures: tuple[Picture, ...] = ()
    marks: tuple[str, ...] = ()
    """The reasons for which runs' rates are no rates of solving; empty for most."""
    made: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The differences between manifests: a name, and each run's value."""

    @property
    def short(self) -> dict[str, str]:
        return dict(zip((each.run for each in self.result.runs), self.names, strict=True)) if self.result else {}


@lru_cache(maxsize=16)
def _read_results(root: Path, _state: object, name: str, cost: float | None) -> RunResults:
    """Read a run, again only when it has changed: with thousands of instances, this takes longer than all the rest."""
    return load_results(RunStore(root), name, cost)


def view(viewer: Viewer, keys: Keys) -> CompareView | None:
    runs = find_runs(viewer, keys["runs"])
    if len(runs) < 2:
        return None
    names = [run.name for run in runs]
    distinct = names if len(set(names)) == len(names) else [run.key for run in runs]
    try:
        results = [_load_results(*each) for each in zip(runs, distinct, strict=True)]
        return compare_runs(runs, results)
    except UserError as error:
        return CompareView(runs, problem=str(error))


def _samples(results: Sequence[RunResults]) -> int:
    """Return how many resamples a person can wait for: all, unless there are many repositories or many pairs."""
    repositories = len({each.repo for each in results[0].results.values()})
    return min(SAMPLES, max(FEWEST, DRAWS // max(1, repositories * comb(len(results), 2))))


def _load_results(run: ViewedRun, name: str) -> RunResults:
    state = tuple(get_stamp(run.store.root / file) for file in ("instances", "report.json", "journal.jsonl"))
    usage = run.usage()
    return _read_results(run.store.root, state, name, usage.cost if usage else None)


def find_runs(viewer: Viewer, name: str) -> tuple[ViewedRun, ...]:
    """Return the runs of a page; none if it names an unknown run, or one twice."""
    if group := find_groups(viewer).get(name):
        return tuple(group)
    found = [viewer.run(key) for key in name.split(AND)]
    runs = tuple(run for run in found if run is not None and not run.is_solve)
    return runs if len({run.key for run in runs}) == len(found) else ()


def compare_runs(runs: tuple[ViewedRun, ...], results: Sequence[RunResults]) -> CompareView:
    """Return the page of these runs; raises UserError if they cannot be compared."""
    result = compare(results, samples=_samples(results))
    common = sorted(set(results[0].results) - set(result.left_out))
    outcomes = {name: tuple(each.results[name].outcome for each in results) for name in common}
    repo_of = {name: readable(results[0].results[name].repo) for name in common}
    resolved_by = [
        frozenset(at for at, one in enumerate(found) if one is Outcome.RESOLVED) for found in outcomes.values()
    ]
    names = short_names([each.name for each in results])
    return CompareView(
        runs=runs,
        names=names,
        result=result,
        wins=_wins(len(results), resolved_by),
        differing=sum(0 < len(each) < len(results) for each in resolved_by),
        rows=tuple((name, repo_of[name], *found) for name, found in outcomes.items()),
        repos=_repos(outcomes, repo_of),
        left_out=_group_reasons(result),
        pictures=_pictures(names, results, result, resolved_by),
        marks=tuple(_mark(run.store.load_run()) for run in runs),
        made=_find_differences([run.store.load_run() for run in runs]),
    )


def short_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names without ``.evaluated``, and without the common first and last parts, between dots."""
    bare = [name.removesuffix(".evaluated") for name in names]
    parts = [name.split(".") for name in (bare if len(set(bare)) == len(names) else names)]
    begin = _alike(parts)
    end = _alike([part[begin:][::-1] for part in parts])
    return tuple(".".join(part[begin : len(part) - end]) for part in parts)


def _alike(parts: Sequence[Sequence[str]]) -> int:
    """Count the parts that all names begin with, leaving at least one of each; none of a single name."""
    most = min(map(len, parts), default=1) - 1 if len(parts) > 1 else 0
    return next((at for at in range(most) if len({part[at] for part in parts}) > 1), most)


def _wins(runs: int, resolved_by: Sequence[frozenset[int]]) -> tuple[tuple[int | None, ...], ...]:
    counts = Counter(resolved_by)

    def better(row: int, column: int) -> int:
        return sum(count for group, count in counts.items() if row in group and column not in group)

    return tuple(tuple(None if row == column else better(row, column) for column in range(runs)) for row in range(runs))


def _repos(outcomes: dict[str, tuple[Outcome, ...]], repo_of: dict[str, str]) -> tuple[RepoLine, ...]:
    found: dict[str, list[tuple[Outcome, ...]]] = {}
    for name, each in outcomes.items():
        found.setdefault(repo_of[name], []).append(each)
    lines = (
        RepoLine(repo, len(rows), tuple(column.count(Outcome.RESOLVED) for column in zip(*rows, strict=True)))
        for repo, rows in found.items()
    )
    return tuple(sorted(lines, key=lambda line: (-line.instances, line.repo)))


def _mark(about: Run) -> str:
    if about.kind is RunKind.CONTROL:
        return "a control"
    if about.kind is RunKind.REGRADE:
        return "of logs that were made elsewhere"
    return f"its solver was given parts of the answer: {about.oracle}" if about.oracle else ""


def _find_differences(abouts: Sequence[Run]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the facts on which manifests differ, apart from the model's names."""
    facts = [
        {
            "Assay": about.assay_version,
            "data set's revision": about.dataset.revision,
            "environments": ", ".join(sorted(set(about.environments.values()))),
            **about.settings,
            **{f"engine: {name}": value for name, value in about.engine.items()},
            **{f"host: {name}": value for name, value in about.host.items()},
        }
        for about in abouts
    ]
    rows = {name: tuple(each.get(name, "") for each in facts) for name in dict.fromkeys(chain(*facts))}
    return tuple((name, values) for name, values in rows.items() if len(set(values)) > 1 and name not in OWN)


def _group_reasons(result: Comparison) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found: dict[str, list[str]] = {}
    for name, reason in result.left_out.items():
        found.setdefault(reason, []).append(name)
    return tuple((reason, tuple(names)) for reason, names in found.items())


def _pictures(
    names: Sequence[str], results: Sequence[RunResults], result: Comparison, resolved_by: Sequence[frozenset[int]]
) -> tuple[Picture, ...]:
    points = [
        RunPoint(name, each.cost, len(each.results), rate.rate)
        for name, each, rate in zip(names, results, result.runs, strict=True)
    ]
    found = (overlap(names, resolved_by), cost_against_rate(points))
    return tuple(each for each in found if each is not None)


def pages(viewer: Viewer) -> Iterator[Keys]:
    yield from ({"runs": name} for name in find_groups(viewer))


PAGE = PageKind("compare", "compare/{runs}.html", "compare.html", view, pages)
