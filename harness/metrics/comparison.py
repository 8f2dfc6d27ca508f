"""Comparison of runs of one data set: rates, differences, and whether chance alone could explain them.

An instance counts if every run evaluated it by the same expected tests and no outcome is an infrastructure failure. The
others are left out and listed with the reason.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

from assay.harness import statistics
from assay.harness.domain import INFRASTRUCTURE, DatasetRef, Model, Outcome
from assay.harness.errors import UserError
from assay.harness.runs.store import RunStore
from assay.harness.statistics import SAMPLES, Interval, Row


@dataclass(frozen=True, slots=True)
class InstanceResult:
    """Outcome of one instance in a run, and the hash of what it was graded by (``Labels.expected``)."""

    outcome: Outcome
    repo: str
    expected: str = ""


@dataclass(frozen=True, slots=True)
class RunResults:
    """The compared facts of a run; ``cost`` is that of all its predictions, in any currency."""

    name: str
    model: str
    dataset: DatasetRef
    results: Mapping[str, InstanceResult]
    cost: float | None = None


class RunRate(Model):
    """Resolved rate of one run over the compared instances, with Wilson's interval."""

    run: str
    model: str
    resolved: int
    rate: Interval
    cost_per_resolved: float | None = None
    """Cost of the whole run divided by all instances that it resolved, compared or not."""


class PairTest(Model):
    """Test of two runs: instances that only one resolves, the difference of the rates, and its p-value."""

    first: str
    second: str
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    difference: Interval
    """Rate of the first minus rate of the second, with the interval of the clustered bootstrap."""
    p: float
    """McNemar's exact test."""
    p_holm: float
    """Adjusted for the number of pairs."""


class PassRates(Model):
    """pass@k and pass^k of k runs of a model, as means over the instances."""

    k: int
    at_least_one: Interval
    """pass@k"""
    all_of_them: Interval
    """pass^k"""


class ModelSamples(Model):
    """A model with several runs."""

    model: str
    runs: tuple[str, ...]
    rates: tuple[PassRates, ...]


class Comparison(Model):
    """Rates and tests of several runs."""

    dataset: DatasetRef
    instances: int
    repositories: int
    left_out: dict[str, str]
    """Id of each instance that does not count, and the reason."""
    seed: int
    samples: int
    runs: tuple[RunRate, ...]
    pairs: tuple[PairTest, ...]
    models: tuple[ModelSamples, ...]


def load_results(store: RunStore, name: str, cost: float | None = None) -> RunResults:
    """Read a run under the name by which it is shown, with the cost of all its predictions; raises UserError."""
    about = store.load_run()
    results = {name: _result(store, name, outcome) for name, outcome in store.load_outcomes().items()}
    return RunResults(name, about.model, about.dataset, results, cost)


def _result(store: RunStore, instance_id: str, outcome: Outcome) -> InstanceResult:
    labels = store.load_labels(instance_id)
    if labels is None:  # an evaluation that did not start saves none
        return InstanceResult(outcome, instance_id.rpartition("-")[0])
    return InstanceResult(outcome, labels.repo, labels.expected)


def compare(runs: Sequence[RunResults], *, samples: int = SAMPLES, seed: int = 0) -> Comparison:
    """Compare two or more runs of one data set, with different names.

    Runs of one model (by name) are samples: they give pass@k and pass^k, and are tested against each other only if
    there is no other model. ``samples`` and ``seed`` are the bootstrap's. Raises UserError: fewer than two runs, runs
    of different data sets, or no instance that all of them evaluated.
    """
    common, left_out = _find_common(runs)
    table = _Table(runs, common, samples, seed)
    return Comparison(
        dataset=runs[0].dataset,
        instances=len(common),
        repositories=len(table.group_by_repo()),
        left_out=left_out,
        seed=seed,
        samples=samples,
        runs=tuple(table.rate(run) for run in runs),
        pairs=_adjust_by_holm([table.test(*pair) for pair in _pairs(runs)]),
        models=tuple(table.passes(model, same) for model, same in _group_by_model(runs).items() if len(same) > 1),
    )


def collect_rates(runs: Sequence[RunResults]) -> dict[str, list[float]]:
    """Return the rate of each run over the instances that all evaluated, by model; raises UserError as ``compare``."""
    common, _ = _find_common(runs)
    found: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        found[run.model or run.name].append(sum(_resolves(run, name) for name in common) / len(common))
    return found


def pair_differences(runs: Sequence[RunResults]) -> dict[str, float]:
    """Return, of each instance that counts, 1 if the first of two runs alone resolves it, and -1 if the second does."""
    common, _ = _find_common(runs)
    return {name: float(_resolves(runs[0], name)) - float(_resolves(runs[1], name)) for name in common}


def _find_common(runs: Sequence[RunResults]) -> tuple[list[str], dict[str, str]]:
    """Return the instances that count, and the others with the reason."""
    _check(runs)
    everything = sorted({name for run in runs for name in run.results})
    left_out = {name: reason for name in everything if (reason := _explain(name, runs))}
    common = sorted(set(runs[0].results) - set(left_out))
    if not common:
        reasons = ", ".join(f"{reason} ({count})" for reason, count in Counter(left_out.values()).most_common(3))
        raise UserError(f"no instance was evaluated by all of these runs: {reasons or 'they hold no verdict'}")
    return common, left_out


def _check(runs: Sequence[RunResults]) -> None:
    names = [run.name for run in runs]
    if len(set(names)) < max(2, len(names)):
        raise UserError(f"a comparison needs two or more different runs, not {', '.join(names) or 'none'}")
    for run in runs[1:]:
        if not same_dataset(run.dataset, runs[0].dataset):
            named = ((each.name, each.dataset) for each in (runs[0], run))
            both = " and ".join(f"{name} of {dataset.name} {dataset.revision[:12]}".rstrip() for name, dataset in named)
            raise UserError(f"runs of different data sets cannot be compared: {both}; evaluate both on one")


def same_dataset(one: DatasetRef, other: DatasetRef) -> bool:
    """Return whether two data sets are the same: by revision if known, else by name."""
    if one.revision and other.revision:
        return one.revision == other.revision
    return one.name == other.name


def _explain(instance_id: str, runs: Sequence[RunResults]) -> str:
    """Return why an instance does not count; empty if it does."""
    missing = [run.name for run in runs if instance_id not in run.results]
    if missing:
        return f"not evaluated in {', '.join(missing)}"
    found = {run.name: run.results[instance_id] for run in runs}
    failed = [f"{each.outcome} in {name}" for name, each in found.items() if each.outcome in INFRASTRUCTURE]
    if failed:
        return ", ".join(failed)
    return "graded by different expected tests" if len({each.expected for each in found.values()}) > 1 else ""


def _group_by_model(runs: Sequence[RunResults]) -> dict[str, list[RunResults]]:
    """Group runs by model; it is unknown whether runs without a name share one."""
    found: dict[str, list[RunResults]] = defaultdict(list)
    for run in runs:
        found[run.model].append(run)
    found.pop("", None)
    return found


def _pairs(runs: Sequence[RunResults]) -> list[tuple[RunResults, RunResults]]:
    pairs = list(combinations(runs, 2))
    return [pair for pair in pairs if pair[0].model != pair[1].model or not pair[0].model] or pairs


def _adjust_by_holm(pairs: Sequence[PairTest]) -> tuple[PairTest, ...]:
    adjusted = statistics.holm([pair.p for pair in pairs])
    return tuple(pair.model_copy(update={"p_holm": p}) for pair, p in zip(pairs, adjusted, strict=True))


@dataclass(frozen=True, slots=True)
class _Table:
    """The compared instances of all runs."""

    runs: Sequence[RunResults]
    common: Sequence[str]
    samples: int
    seed: int

    def group_by_repo(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for name in self.common:
            found[self.runs[0].results[name].repo].append(name)
        return found

    def rate(self, run: RunResults) -> RunRate:
        resolved = sum(_resolves(run, name) for name in self.common)
        everything = sum(_resolves(run, name) for name in run.results)
        return RunRate(
            run=run.name,
            model=run.model,
            resolved=resolved,
            rate=statistics.wilson(resolved, len(self.common)),
            cost_per_resolved=None if run.cost is None else statistics.cost_per_resolved(run.cost, everything),
        )

    def test(self, first: RunResults, second: RunResults) -> PairTest:
        """Test two runs against each other; the p-value is not yet adjusted."""
        found = {name: (_resolves(first, name), _resolves(second, name)) for name in self.common}
        only_first = tuple(name for name, each in found.items() if each == (True, False))
        only_second = tuple(name for name, each in found.items() if each == (False, True))
        p = statistics.mcnemar(len(only_first), len(only_second))
        return PairTest(
            first=first.name,
            second=second.name,
            only_first=only_first,
            only_second=only_second,
            difference=self._mean({name: float(one) - float(other) for name, (one, other) in found.items()}),
            p=p,
            p_holm=p,
        )

    def passes(self, model: str, runs: Sequence[RunResults]) -> ModelSamples:
        n, right = len(runs), {name: sum(_resolves(run, name) for run in runs) for name in self.common}
        rates = tuple(
            PassRates(
                k=k,
                at_least_one=self._mean({name: statistics.pass_at_k(n, c, k) for name, c in right.items()}),
                all_of_them=self._mean({name: statistics.pass_all_k(n, c, k) for name, c in right.items()}),
            )
            for k in range(1, n + 1)
        )
        return ModelSamples(model=model, runs=tuple(run.name for run in runs), rates=rates)

    def _mean(self, figures: Mapping[str, float]) -> Interval:
        rows: dict[str, list[Row]] = {
            repo: [(figures[name],) for name in names] for repo, names in self.group_by_repo().items()
        }
        samples, seed = self.samples, self.seed
        return statistics.bootstrap_clusters(rows, lambda sums: sums[0] / sums[-1], samples=samples, seed=seed)


def _resolves(run: RunResults, instance_id: str) -> bool:
    return run.results[instance_id].outcome is Outcome.RESOLVED


def compare_rates(first: int, of_first: int, second: int, of_second: int) -> Interval:
    """Return the difference of two independent rates with Newcombe's interval (Statistics in Medicine 17, 1998)."""
    one, other = statistics.wilson(first, of_first), statistics.wilson(second, of_second)
    difference = one.estimate - other.estimate
    below = sqrt((one.estimate - one.low) ** 2 + (other.high - other.estimate) ** 2)
    above = sqrt((one.high - one.estimate) ** 2 + (other.estimate - other.low) ** 2)
    return Interval(estimate=difference, low=difference - below, high=difference + above)
