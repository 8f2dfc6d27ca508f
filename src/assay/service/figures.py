"""Counters of the service, in the text form of Prometheus."""

import re
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from assay.harness.runs.saved import SavedVerdict
from assay.service.stages import Sample, StageTimes

SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)
KIND = "text/plain; version=0.0.4; charset=utf-8"


class Figures:
    """Counters, gauges and histograms of one service."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        counter = partial(Counter, registry=self._registry)
        gauge = partial(Gauge, registry=self._registry)
        histogram = partial(Histogram, registry=self._registry, buckets=SECONDS)
        self.requests = counter("assay_requests", "Answers, by route and HTTP status.", ("route", "status"))
        self.outcomes = counter("assay_evaluations", "Evaluations that ended, by outcome.", ("outcome",))
        self.reused = counter("assay_reused", "Asks that an evaluation at work, or a finished one, answered.")
        self.same_tree = counter("assay_same_tree", "Contents whose tree another patch had made.")
        self.cancelled = counter("assay_cancelled", "Evaluations that all of their clients left.")
        self.refused = counter("assay_refused", "Asks for which there was no room.")
        self.queued = gauge("assay_queued", "Evaluations that wait for their turn.")
        self.running = gauge("assay_running", "Evaluations at work.")
        self._waited = histogram("assay_queue_seconds", "Seconds in the queue.")
        self._taken = histogram("assay_evaluation_seconds", "Seconds of an evaluation.")
        self._overhead = histogram("assay_overhead_seconds", "Seconds of an evaluation beside its tests.")
        self._stages = histogram("assay_stage_seconds", "Seconds by stage.", ("stage",))
        self.checked_stops = counter(
            "assay_checked_stops", "Early stops that were evaluated in full, by whether they were right.", ("result",)
        )
        self.wrong_stops = gauge("assay_wrong_stops_bound", "Upper end of the exact interval of wrong early stops.")
        self.late = counter("assay_late", "Samples of batches that had not ended by the deadline.")
        self.times = StageTimes()
        self.kinds = gauge("assay_kinds", "Kinds of passed samples, by their causes.")
        self.growing_kinds = gauge("assay_growing_kinds", "Kinds that are new and grow from step to step.")
        self.probes = counter("assay_probes", "Probes by gold and null, by whether both were right.", ("result",))
        self.quarantined = gauge("assay_quarantined", "Instances, or engines, in quarantine.", ("what",))
        self.withdrawn = counter("assay_withdrawn", "Answers that were withdrawn after a wrong probe.")

    def observe(self, saved: SavedVerdict, waited: float, taken: float) -> None:
        """Count an evaluation that ended, with its seconds in the queue and at work."""
        self.outcomes.labels(saved.verdict.outcome).inc()
        self._waited.observe(waited)
        self._taken.observe(taken)
        self._overhead.observe(max(0.0, taken - saved.seconds))

    def observe_answer(self, *, known: bool, seconds: float) -> None:
        """Count an answer, with its seconds since the question; ``known`` if its result was there by then."""
        stage = "known" if known else "new"
        self.times.observe(stage, seconds)
        self._stages.labels(stage).observe(seconds)

    def observe_sample(self, sample: Sample) -> None:
        self.times.add(sample)
        for stage, seconds in sample.seconds.items():
            self._stages.labels(stage).observe(seconds)

    def flatten(self) -> dict[str, float]:
        """Return every figure by its name and its labels' values, with p50 and p99 by stage, and without buckets."""
        found = {}
        for sample in (sample for family in self._registry.collect() for sample in family.samples):
            if not sample.name.endswith(("_bucket", "_created")):
                name = ".".join((sample.name, *sample.labels.values()))
                found[re.sub(r"[^\w./-]", "_", name)] = float(sample.value)
        for stage, each in self.times.as_json()["stages"].items():
            found |= {f"assay_stage_{name}.{stage}": each[name] for name in ("p50", "p99")}
        return found

    def text(self) -> bytes:
        return generate_latest(self._registry)
