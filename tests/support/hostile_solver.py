"""A solver's run and a comparison with gold in which every field holds text that would harm a careless viewer."""

from pathlib import Path

import solved_run
from assay.harness.domain import (
    Cause,
    CauseFlag,
    Divergence,
    GeneratorResult,
    PatchDiffFinding,
    PatchDiffResult,
    ProbeObservation,
)
from assay.harness.runs.saved import SavedCause, SavedPatchDiff
from assay.harness.runs.store import RunStore
from hostile_run import LINE, SAFE_JSON


def add_comparison(store: RunStore, instance_id: str) -> None:
    """Compare a patch of a run with gold."""
    seen = ProbeObservation(kind=LINE, type=LINE, text=SAFE_JSON)
    divergence = Divergence(
        finding=PatchDiffFinding.REGRESSION,
        generator=LINE,
        probe=LINE,
        target=LINE,
        base=seen,
        gold=ProbeObservation(kind="value", text="1"),
        candidate=seen,
        confirmed=20,
        reproduction="test_1.html",
    )
    result = PatchDiffResult(
        instance_id=instance_id,
        model=LINE,
        finding=PatchDiffFinding.REGRESSION,
        divergences=(divergence, divergence.model_copy(update={"reproduction": LINE})),
        generators=(GeneratorResult(name=LINE, note=SAFE_JSON, null_divergences=1),),
        targets=(LINE, SAFE_JSON),
        error=SAFE_JSON,
    )
    store.save_patchdiff(SavedPatchDiff(key="0", comparison=result), {"test_1.html": SAFE_JSON})


def add_cause(store: RunStore, instance_id: str) -> None:
    """Find the cause of a patch of a run."""
    flag = CauseFlag(path=LINE, text=SAFE_JSON, word=LINE)
    cause = Cause(instance_id=instance_id, patch=SAFE_JSON, lines=1, hunks=1, of_lines=2, of_hunks=2, flags=(flag,))
    store.save_cause(SavedCause(key="0", cause=cause))


def make(root: Path, instance_id: str) -> RunStore:
    """Save a solver's run with one sample of one instance."""
    return solved_run.make(
        root,
        LINE,
        cost=None,
        patch=SAFE_JSON,
        times=3,
        text=SAFE_JSON,
        picture="http://evil.example/x.svg",
        instance_id=instance_id,
    )
