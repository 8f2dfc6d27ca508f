"""Runs whose patches differ from gold, and answers of people about them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.harness.domain import Divergence, PatchDiffFinding, PatchDiffResult, Prediction, ProbeObservation
from assay.harness.files import json_lines
from assay.harness.metrics.annotations import (
    Annotation,
    Difficulty,
    DivergenceAnnotation,
    DivergenceVerdict,
    InstanceAnnotation,
    identify_patch,
)
from assay.harness.runs.saved import SavedPatchDiff
from assay.harness.runs.store import RunStore
from assay.jobs.evaluate import EvaluationRun
from assay.jobs.workplace import Workplace
from toy import GOLD, make_instances

PATCH = identify_patch(GOLD)


def seen(text: str) -> ProbeObservation:
    return ProbeObservation(kind="value", type="int", text=text)


def make_run(folder: Path, count: int, name: str = "judged") -> RunStore:
    """Evaluate so many instances, all resolved; each patch has one difference from gold, like the base commit."""
    instances = make_instances(range(1, count + 1))
    pairs = [(each, Prediction(instance_id=each.id, model="acme/model", patch=each.gold_patch)) for each in instances]
    run = EvaluationRun(name, folder, Workplace(engine="fake"))
    run.evaluate(pairs, [each.id for each in instances])
    for each in instances:
        difference = Divergence(
            finding=PatchDiffFinding.UNFIXED_LIKE_BASE,
            generator="amplify",
            probe="test_add:1",
            target="calc.py::add",
            base=seen("-1"),
            gold=seen("3"),
            candidate=seen("-1"),
            confirmed=20,
            reproduction="test_1.py",
        )
        result = PatchDiffResult(instance_id=each.id, finding=difference.finding, divergences=(difference,))
        test = "import calc\n\n\ndef test_add():\n    assert calc.add(1, 2) == 3\n"
        run.store.save_patchdiff(SavedPatchDiff(key="0", comparison=result), {"test_1.py": test})
    return run.store


def grade(number: int, by: str | Sequence[str] = "anna", **changes: Any) -> InstanceAnnotation:
    fields = {"instance_id": f"acme__calc-{number}", "by": (by,) if isinstance(by, str) else tuple(by)}
    return InstanceAnnotation.model_validate(
        {**fields, "clarity": 0, "tests": 1, "difficulty": Difficulty.HOUR, **changes}
    )


def judge(number: int, verdict: str | None, by: str = "anna", **changes: Any) -> DivergenceAnnotation:
    fields = {"instance_id": f"acme__calc-{number}", "by": (by,), "patch": PATCH, "generator": "amplify"}
    given = None if verdict is None else DivergenceVerdict(verdict)
    return DivergenceAnnotation.model_validate({**fields, "probe": "test_add:1", "verdict": given, **changes})


def write(path: Path, *answers: Annotation) -> Path:
    path.write_bytes(json_lines(answers))
    return path
