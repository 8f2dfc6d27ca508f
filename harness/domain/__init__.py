"""The nouns of Assay.

Pydantic models for what crosses a file boundary, slotted dataclasses for what stays inside. Everything is frozen, and
nothing here does input or output or imports another module of Assay.
"""

# ruff: noqa: F401  All of it is for others; mypy knows (pyproject.toml)

from assay.harness.domain.cause import Cause, CauseFlag
from assay.harness.domain.counter import (
    CounterCount,
    CounterRun,
    CounterSet,
    CounterTest,
    Edit,
    NoCounter,
    NoSeal,
    Seal,
    SealedRun,
    SealSet,
    Siblings,
)
from assay.harness.domain.environment import (
    Archive,
    Card,
    Download,
    ImageSpec,
    Limits,
    PublishedImage,
    Recipe,
    ReleaseDownload,
    RowScript,
    SeparateVerifier,
    Service,
    TestPlan,
    TreeDownload,
    TreeFact,
    TreeRef,
    Variant,
)
from assay.harness.domain.evidence import (
    FUZZED,
    Apply,
    ApplyStatus,
    Channel,
    Evidence,
    FailedPart,
    TestReport,
    Timings,
    Tripwire,
    Verdict,
    WorkloadRun,
)
from assay.harness.domain.instance import Asset, DatasetRef, Instance, Origin, PatchedCommit, Prediction, Stages
from assay.harness.domain.patchdiff import (
    MISSING,
    SUSPICIOUS,
    Divergence,
    GeneratorResult,
    OperatorResult,
    PatchDiffFinding,
    PatchDiffResult,
    ProbeObservation,
)
from assay.harness.domain.rule_names import Rule
from assay.harness.domain.vocabulary import (
    FAILING,
    GRADED,
    INFRASTRUCTURE,
    PASSING,
    UNKNOWN_TIME,
    Answered,
    CardCount,
    CounterForm,
    Environment,
    InstanceId,
    Model,
    Outcome,
    Sha256,
    Status,
    TestedTree,
)
