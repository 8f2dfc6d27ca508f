"""Runs in parts, and merged, with patches of every kind."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from assay.harness.domain import Outcome, Prediction
from assay.harness.runs.merge import Merge, plan_merge, write_merge
from assay.harness.runs.report import RunReport
from assay.harness.runs.shards import Shard
from assay.harness.runs.store import RunStore
from assay.jobs.evaluate import EvaluationRun
from assay.jobs.workplace import Pair, Workplace
from many_instances import instances

PATCHES: dict[str, Callable[[str], str]] = {
    "gold": lambda gold: gold,
    "wrong": lambda gold: gold.replace("a + b", "a * b"),
    "empty": lambda _gold: "",
    "prose": lambda _gold: "I would add a plus sign.",
}
KINDS = (*PATCHES, "none")
SIX = list(instances(6))
MIXED = ("gold", "wrong", "empty", "none", "gold", "prose")


def pairs_of(kinds: Sequence[str]) -> list[Pair]:
    return [
        (each, Prediction(instance_id=each.id, model=f"m-{kind}", patch=PATCHES[kind](each.gold_patch)))
        for each, kind in zip(SIX, kinds, strict=False)
        if kind != "none"
    ]


def make_run(folder: Path, name: str, **more: Any) -> EvaluationRun:
    return EvaluationRun(name, folder, Workplace(engine="fake", jobs=1), **more)


def evaluate(wanted: EvaluationRun, pairs: Sequence[Pair], count: int) -> RunStore:
    wanted.evaluate(pairs, [each.id for each in SIX[:count]])
    return wanted.store


def in_shards(folder: Path, pairs: Sequence[Pair], count: int, of: int, **more: Any) -> list[RunStore]:
    shards = [Shard(number=number, of=of) for number in range(1, of + 1)]
    return [evaluate(make_run(folder, each.folder("run"), shard=each, **more), pairs, count) for each in shards]


def merge(sources: Sequence[RunStore], output: Path) -> RunReport:
    planned = plan_merge(sources, output.name)
    assert planned.missing == ()
    return write(planned, output)


def write(planned: Merge, output: Path) -> RunReport:
    return write_merge(planned, RunStore(output), lambda: None)


def report_bytes(store: RunStore) -> bytes:
    return (store.root / "report.json").read_bytes()


def lines(path: Path) -> list[str]:
    return sorted(path.read_text().splitlines())


def change_verdict(store: RunStore, outcome: Outcome) -> str:
    saved = store.load_verdicts()[0]
    verdict = saved.verdict.model_copy(update={"outcome": outcome})
    store.save_verdict(saved.model_copy(update={"verdict": verdict}))
    return saved.verdict.instance_id
