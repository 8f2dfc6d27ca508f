"""The predictions of a run come back out of every format that holds them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from assay.harness.domain import Rule, Stages, Status
from assay.harness.exports import find
from assay.harness.exports.base import RunToExport
from assay.harness.exports.write import write
from assay.instances.dataset.imports import import_predictions
from exported import graded
from submitted import ABOUT
from toy import FIXED, KEPT, make_instance

P, F = Status.PASSED, Status.FAILED
STAGES = Stages(run={KEPT: P}, test={FIXED: F, KEPT: P}, fix={FIXED: P, KEPT: P})


@pytest.mark.parametrize(
    ("name", "split", "changes"),
    [
        ("swebench", "verified", {}),
        ("sb-cli", "", {}),
        ("multi-swe-bench", "", {"rule": Rule.MULTI_SWE_BENCH, "stages": STAGES}),
        ("swe-polybench", "PB", {"rule": Rule.SWE_POLYBENCH}),
        ("harbor", "", {}),
    ],
)
def test_predictions_come_back(
    name: str, split: str, changes: dict[str, object], make_run: Callable[..., RunToExport], tmp_path: Path
) -> None:
    evaluations = [graded(make_instance(id=f"acme__calc-{n}", **changes), {FIXED: P, KEPT: P}) for n in (1, 2)]
    metadata = ABOUT.model_copy(update={"split": split})
    run = make_run(*evaluations, patches={"acme__calc-2": "no diff \u2028é"}, metadata=metadata)
    write(find(name), run, tmp_path / "out")
    assert import_predictions(tmp_path / "out").predictions == run.predictions
