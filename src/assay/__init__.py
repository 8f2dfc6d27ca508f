"""Assay says whether a patch really resolves an issue, with evidence anyone can re-check.

The public surface of the package; everything is imported on first use, so that ``import assay`` is cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from assay.harness.domain import Evidence, Instance, Outcome, Prediction, Status, TestPlan, Verdict
    from assay.harness.evaluate import evaluate
    from assay.harness.grade import grade
    from assay.instances.load import load

_HOMES = {
    "Evidence": "assay.harness.domain",
    "Instance": "assay.harness.domain",
    "Outcome": "assay.harness.domain",
    "Prediction": "assay.harness.domain",
    "Status": "assay.harness.domain",
    "TestPlan": "assay.harness.domain",
    "Verdict": "assay.harness.domain",
    "evaluate": "assay.harness.evaluate",
    "grade": "assay.harness.grade",
    "load": "assay.instances.load",
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
