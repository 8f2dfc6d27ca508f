"""Assay says whether a patch really resolves an issue, with evidence anyone can re-check.

The public surface of the package; everything is imported on first use, so that ``import assay`` is cheap.
Plug-in authors find the Protocols here too; what satisfies one is registered under its entry-point group.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.version import __version__

if Path(__file__).with_name("harness").is_file():  # a link, checked out as a file that holds its target
    raise ImportError(
        "this checkout has no symbolic links, so assay.harness cannot be found; install it with `pip install .`, or "
        "check the links out with `git config core.symlinks true` and `git checkout HEAD -- src/assay`"
    )

if TYPE_CHECKING:
    from assay.agents.contract import Agent
    from assay.api.evaluator import Evaluator
    from assay.api.patchdiff import PatchDiff
    from assay.choices import EnvironmentChoice, ModelChoice
    from assay.harness.domain import Evidence, Instance, Outcome, PatchDiffResult, Prediction, Status, TestPlan, Verdict
    from assay.harness.engines.base import ActingEngine, Box, BoxSpec, Engine
    from assay.harness.errors import AssayError, UserError
    from assay.harness.evaluation.evaluate import Evaluation
    from assay.harness.exports.base import ExportFormat
    from assay.harness.grading.grade import grade
    from assay.harness.languages.base import Language
    from assay.harness.patchdiff.contract import Generator
    from assay.harness.reports.base import ReportFormat
    from assay.harness.runners.base import TestRunner
    from assay.harness.runs.report import RunReport
    from assay.instances.dataset.formats.base import DatasetFormat
    from assay.instances.dataset.load import Loaded, load

_NAMES = {
    "assay.agents.contract": ("Agent",),
    "assay.choices": ("EnvironmentChoice", "ModelChoice"),
    "assay.api.patchdiff": ("PatchDiff",),
    "assay.api.evaluator": ("Evaluator",),
    "assay.harness.domain": (
        *("Evidence", "Instance", "Outcome", "PatchDiffResult", "Prediction", "Status", "TestPlan", "Verdict"),
    ),
    "assay.harness.engines.base": ("ActingEngine", "Box", "BoxSpec", "Engine"),
    "assay.harness.errors": ("AssayError", "UserError"),
    "assay.harness.evaluation.evaluate": ("Evaluation",),
    "assay.harness.exports.base": ("ExportFormat",),
    "assay.harness.grading.grade": ("grade",),
    "assay.harness.languages.base": ("Language",),
    "assay.harness.patchdiff.contract": ("Generator",),
    "assay.harness.reports.base": ("ReportFormat",),
    "assay.harness.runners.base": ("TestRunner",),
    "assay.harness.runs.report": ("RunReport",),
    "assay.instances.dataset.formats.base": ("DatasetFormat",),
    "assay.instances.dataset.load": ("Loaded", "load"),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}

__all__ = [
    "ActingEngine",
    "Agent",
    "AssayError",
    "Box",
    "BoxSpec",
    "DatasetFormat",
    "Engine",
    "EnvironmentChoice",
    "Evaluation",
    "Evaluator",
    "Evidence",
    "ExportFormat",
    "Generator",
    "Instance",
    "Language",
    "Loaded",
    "ModelChoice",
    "Outcome",
    "PatchDiff",
    "PatchDiffResult",
    "Prediction",
    "ReportFormat",
    "RunReport",
    "Status",
    "TestPlan",
    "TestRunner",
    "UserError",
    "Verdict",
    "__version__",
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


def __dir__() -> list[str]:
    return __all__
