"""The run report: SWE-bench's schema 2, which existing scripts read, beside Assay's own figures."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, harmonic_mean
from typing import Any

from pydantic import Field

from assay.harness.domain import (
    INFRASTRUCTURE,
    CounterForm,
    Environment,
    Evidence,
    Instance,
    Model,
    Outcome,
    Status,
    Verdict,
)
from assay.harness.grading.logs import LOG_ALONE
from assay.harness.names import count
from assay.harness.runs.cause_figures import CauseFigures
from assay.harness.runs.patchdiff_figures import PatchDiffFigures

ERRORS = INFRASTRUCTURE | {Outcome.PATCH_REJECTED, Outcome.PATCH_CONFLICT, Outcome.TIMED_OUT, Outcome.OUTPUT_LIMIT}
"""Outcomes that SWE-bench counts as errors: no test result could be graded."""


@dataclass(frozen=True, slots=True)
class Graded:
    """One evaluation of a run, with what it was graded from."""

    instance: Instance
    evidence: Evidence
    verdict: Verdict

    @property
    def tests(self) -> dict[str, Status]:
        """Results of the project's own tests, without the tripwires."""
        return self.evidence.report.tests


class CounterFigures(Model):
    """The counter-tests of what is resolved."""

    resolved: dict[str, int] = Field(default_factory=dict)
    """How many resolved instances had which run of counter-tests; those without one are in none."""
    forms: dict[CounterForm, int] = Field(default_factory=dict)
    failed: int = 0
    """Counter-tests that failed, as they must."""
    without: int = 0
    """Fail-to-pass tests without a counter-test."""


class RunReport(Model):
    """One run in figures. The fields up to ``failure_reasons`` are SWE-bench's."""

    schema_version: int = 2
    total_instances: int
    submitted_instances: int
    completed_instances: int
    resolved_instances: int
    unresolved_instances: int
    infra_failure_instances: int
    ambiguous_failure_instances: int
    empty_patch_instances: int
    error_instances: int
    completed_ids: list[str]
    incomplete_ids: list[str]
    empty_patch_ids: list[str]
    submitted_ids: list[str]
    resolved_ids: list[str]
    unresolved_ids: list[str]
    infra_failure_ids: list[str]
    ambiguous_failure_ids: list[str]
    error_ids: list[str]
    failure_reasons: dict[str, str]
    run_id: str = ""
    dataset: str = ""
    model: str = ""
    assay_version: str = ""
    outcomes: dict[str, Outcome]
    outcome_counts: dict[str, int]
    reasons: dict[str, str]
    flags: dict[str, tuple[str, ...]]
    environments: dict[Environment, int] = Field(default_factory=dict)
    """How many verdicts come from which; a run that mixes them compares less."""
    rules: list[str]
    """Names of the rules that decided what "resolved" means."""
    flaky_ids: list[str] = Field(default_factory=list)
    """Unresolved, and some of the tests in question passed when they were run again."""
    unfit_ids: list[str] = Field(default_factory=list)
    unfit_reasons: dict[str, str] | None = None
    """Instances that fail their controls in this run, with the reason; None: no controls were run."""
    resolved_rate: float = 0.0
    """Share of the submitted instances."""
    operational_instances: int | None = None
    operational_resolved_instances: int | None = None
    operational_rate: float | None = None
    """Share of the submitted instances that are fit."""
    measures: dict[str, dict[str, float]] = Field(default_factory=dict)
    """Figures beside the outcomes of single instances, such as the coverage of the change."""
    mean_measures: dict[str, float] = Field(default_factory=dict)
    """Means over the instances that have the figure; harmonic for speed-ups."""
    counter: CounterFigures | None = None
    """None: no counter-tests were run for what is resolved."""
    patchdiff: PatchDiffFigures | None = None
    """Figures of the comparisons with gold; None: nothing was compared."""
    causes: CauseFigures | None = None
    """Figures of the smallest parts that resolve; None: none was looked for."""

    def describe_counters(self) -> str:
        """Say in one line how far what is resolved is tried by counter-tests."""
        resolved, counter = self.resolved_instances, self.counter
        if counter is None:
            return f"no counter-tests were run for the {resolved} resolved (assay evaluate --counter pair)"
        kinds = ", ".join(f"{number} by {kind}" for kind, number in counter.resolved.items())
        total = sum(counter.forms.values())
        return f"counter-tests of {resolved} resolved: {kinds}; {counter.failed} of {total} failed as they must"

    def describe_logs(self) -> str:
        """Say in one line how many verdicts are of logs alone; empty for none."""
        number = sum(LOG_ALONE in flags for flags in self.flags.values())
        return f"{count(number, 'verdict')} of logs alone: no tree was checked, no tripwires ran" if number else ""


def build_report(
    verdicts: Iterable[Verdict], instance_ids: Iterable[str], *, unfit: Mapping[str, str] | None = None, **about: str
) -> RunReport:
    """Sum up a run; ``about`` has ``run_id``, ``dataset``, ``model`` and ``assay_version``.

    Args:
        verdicts: one for each submitted prediction.
        instance_ids: all instances of the data set that were asked for, with a prediction or without.
        unfit: why each instance that failed its controls is unfit; None when no controls were run.
    """
    found = {verdict.instance_id: verdict for verdict in verdicts}
    everything = sorted({*instance_ids, *found})
    ids = _ids_by_group(found, everything)
    groups = {f"{name}_ids": members for name, members in ids.items()}
    counts = {f"{name}_instances": len(ids[name]) for name in ids if name != "incomplete"}
    return RunReport.model_validate(
        {
            **groups,
            **counts,
            **about,
            **_rates(found, unfit),
            **_average_measures(found),
            "total_instances": len(everything),
            "failure_reasons": {name: found[name].reason for name in ids["infra_failure"]},
            "outcomes": {name: verdict.outcome for name, verdict in sorted(found.items())},
            "outcome_counts": dict(sorted(Counter(str(v.outcome) for v in found.values()).items())),
            "reasons": {name: verdict.reason for name, verdict in sorted(found.items())},
            "flags": {name: verdict.flags for name, verdict in sorted(found.items()) if verdict.flags},
            "environments": dict(sorted(Counter(v.environment for v in found.values() if v.environment).items())),
            "rules": sorted({str(verdict.rule) for verdict in found.values()}),
            "counter": _sum_counters(found.values()),
            "flaky_ids": sorted(name for name, verdict in found.items() if verdict.flaky),
        }
    )


def _rates(found: dict[str, Verdict], unfit: Mapping[str, str] | None) -> dict[str, Any]:
    resolved = [verdict.resolved for verdict in found.values()]
    rates: dict[str, Any] = {"resolved_rate": _rate(resolved)}
    if unfit is None:
        return rates
    fit = [verdict.resolved for name, verdict in found.items() if name not in unfit]
    return rates | {
        "unfit_ids": sorted(unfit),
        "unfit_reasons": dict(sorted(unfit.items())),
        "operational_instances": len(fit),
        "operational_resolved_instances": sum(fit),
        "operational_rate": _rate(fit),
    }


def _average_measures(found: dict[str, Verdict]) -> dict[str, Any]:
    names = sorted({name for verdict in found.values() for name in verdict.measures})
    values = {name: [each.measures[name] for each in found.values() if name in each.measures] for name in names}
    return {
        "measures": {name: verdict.measures for name, verdict in sorted(found.items()) if verdict.measures},
        "mean_measures": {
            name: round((harmonic_mean if "speed_up" in name else fmean)(each), 4) for name, each in values.items()
        },
    }


def _sum_counters(found: Iterable[Verdict]) -> CounterFigures | None:
    counts = [each.counter for each in found if each.resolved and each.counter]
    if not counts:
        return None
    forms = Counter[CounterForm]()
    for each in counts:
        forms.update(each.forms)
    return CounterFigures(
        resolved=dict(sorted(Counter(each.kind for each in counts).items())),
        forms=dict(sorted(forms.items())),
        failed=sum(each.failed for each in counts),
        without=sum(each.without for each in counts),
    )


def _rate(resolved: list[bool]) -> float:
    return round(sum(resolved) / len(resolved), 6) if resolved else 0.0


def _ids_by_group(found: dict[str, Verdict], everything: list[str]) -> dict[str, list[str]]:
    def having(*outcomes: Outcome) -> list[str]:
        return sorted(name for name, verdict in found.items() if verdict.outcome in outcomes)

    errors = having(*ERRORS)
    empty = having(Outcome.EMPTY_PATCH)
    completed = sorted(set(found) - set(errors) - set(empty))
    resolved = having(Outcome.RESOLVED)
    return {
        "submitted": sorted(found),
        "completed": completed,
        "incomplete": sorted(set(everything) - set(found)),
        "resolved": resolved,
        "unresolved": sorted(set(completed) - set(resolved)),
        "infra_failure": having(*INFRASTRUCTURE),
        "ambiguous_failure": having(Outcome.NOT_RUN),
        "empty_patch": empty,
        "error": errors,
    }
