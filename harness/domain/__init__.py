"""The nouns of Assay.

Pydantic models for what crosses a file boundary, slotted dataclasses for what stays inside. Everything is frozen, and
nothing here does input or output or imports another module of Assay.
"""

from assay.harness.domain.environment import (
    Archive,
    ImageSpec,
    Limits,
    PublishedImage,
    Recipe,
    Service,
    TestPlan,
    TreeRef,
    Variant,
)
from assay.harness.domain.evidence import (
    Apply,
    ApplyStatus,
    Channel,
    Evidence,
    FailedPart,
    TestReport,
    Timings,
    Verdict,
)
from assay.harness.domain.instance import (
    Asset,
    DatasetRef,
    Instance,
    Origin,
    PatchedCommit,
    Prediction,
    Stages,
)
from assay.harness.domain.patchdiff import (
    MISSING,
    SUSPICIOUS,
    Divergence,
    GeneratorResult,
    PatchDiffFinding,
    PatchDiffResult,
    ProbeObservation,
)
from assay.harness.domain.vocabulary import (
    INFRASTRUCTURE,
    STAGED,
    UNKNOWN_TIME,
    InstanceId,
    Model,
    Outcome,
    Rule,
    Sha256,
    Status,
)

__all__ = [
    "INFRASTRUCTURE",
    "MISSING",
    "STAGED",
    "SUSPICIOUS",
    "UNKNOWN_TIME",
    "Apply",
    "ApplyStatus",
    "Archive",
    "Asset",
    "Channel",
    "DatasetRef",
    "Divergence",
    "Evidence",
    "FailedPart",
    "GeneratorResult",
    "ImageSpec",
    "Instance",
    "InstanceId",
    "Limits",
    "Model",
    "Origin",
    "Outcome",
    "PatchDiffFinding",
    "PatchDiffResult",
    "PatchedCommit",
    "Prediction",
    "ProbeObservation",
    "PublishedImage",
    "Recipe",
    "Rule",
    "Service",
    "Sha256",
    "Stages",
    "Status",
    "TestPlan",
    "TestReport",
    "Timings",
    "TreeRef",
    "Variant",
    "Verdict",
]
