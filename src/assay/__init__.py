"""Assay says whether a patch really resolves an issue, with evidence anyone can re-check.

The public surface of the package; everything is imported on first use, so that ``import assay`` is cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from assay.version import __version__

if TYPE_CHECKING:
    from assay.harness.domain import Evidence, Instance, Outcome, Prediction, Status, TestPlan, Verdict
    from assay.harness.evaluation.evaluate import evaluate
    from assay.harness.grading.grade import grade
    from assay.instances.dataset.load import load

_HOMES = {
    "Evidence": "assay.harness.domain",
    "Instance": "assay.harness.domain",
    "Outcome": "assay.harness.domain",
    "Prediction": "assay.harness.domain",
    "Status": "assay.harness.domain",
    "TestPlan": "assay.harness.domain",
    "Verdict": "assay.harness.domain",
    "evaluate": "assay.harness.evaluation.evaluate",
    "grade": "assay.harness.grading.grade",
    "load": "assay.instances.dataset.load",
}

__all__ = [
    "Evidence",
    "Instance",
    "Outcome",
    "Prediction",
    "Status",
    "TestPlan",
    "Verdict",
    "__version__",
    "evaluate",
    "grade",
    "load",
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    home = _HOMES.get(name)
    if home is None:
        message = f"module 'assay' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(home), name)
