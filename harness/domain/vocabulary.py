"""Closed lists, constrained strings and the base model, which all nouns share."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints


def _climbs_no_folder(name: str) -> str:
    if ".." in name:
        raise ValueError("must not hold '..'")
    return name


def _stays_in_the_tree(path: str) -> str:
    parts = path.lower().replace("\\", "/").split("/")
    if not {"", "..", ".git"}.isdisjoint(parts) or ":" in parts[0]:
        raise ValueError(f"{path[:60]!r} is no path inside the tree")
    return path


InstanceId = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$"), AfterValidator(_climbs_no_folder)
]
"""Also used as the name of a folder."""

CardCount = Annotated[int, Field(ge=0)]
"""Number of accelerator cards."""

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]

UNKNOWN_TIME = datetime(1970, 1, 1, tzinfo=UTC)  # stands for an unknown time; older than any repository


class Model(BaseModel):
    """Base of all models that are written to or read from a file."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Environment(StrEnum):
    """What an evaluation's tests ran in."""

    RECIPE = "recipe"
    """An image that Assay built as a recipe says."""
    DEFAULTS = "defaults"
    """An image that Assay built as is usual in the language, since no recipe names the repository."""
    PUBLISHED = "published"


class Status(StrEnum):
    """Result of one test."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    XFAIL = "xfail"
    MISSING = "missing"


PASSING = frozenset({Status.PASSED, Status.XFAIL})
FAILING = frozenset({Status.FAILED, Status.ERROR})


class Outcome(StrEnum):
    """Class of one evaluation's result; a closed list, never derived from the text of a log."""

    RESOLVED = "resolved"
    UNRESOLVED = "unresolved"
    EMPTY_PATCH = "empty_patch"
    PATCH_REJECTED = "patch_rejected"
    PATCH_CONFLICT = "patch_conflict"
    NOT_RUN = "not_run"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    OUTPUT_LIMIT = "output_limit"
    TAMPERED = "tampered"
    ENV_ERROR = "env_error"
    INFRA_ERROR = "infra_error"


INFRASTRUCTURE = frozenset({Outcome.ENV_ERROR, Outcome.INFRA_ERROR})
GRADED = frozenset({Outcome.RESOLVED, Outcome.UNRESOLVED})
"""Outcomes that follow from the results of single tests."""


class TestedTree(StrEnum):
    """A tree in which the tests of a test patch, or a workload, run."""

    __test__ = False

    BASE = "base"
    GOLD = "gold"
    BASE_ALONE = "base-alone"
    """No test patch: the base commit's own tests in the same files."""
    GOLD_ALONE = "gold-alone"
    LOOKALIKE = "look-alike"
    """The base tree, with a blank line, a comment and an empty statement in each file that the gold patch changes."""
    CANDIDATE = "candidate"
    """The base tree with the patch that is judged."""
    BASE_AGAIN = "base-again"
    """The base tree once more: how its runs differ is noise."""


class Answered(StrEnum):
    """What a patch answered to a test whose answer was taken out."""

    RIGHT = "right"
    WRONG = "wrong"
    """Another value, or none although the test passed."""
    UNKNOWN = "unknown"
    """The value's type has an equality of its own, or the assertion may have been left out."""
    NOT_RUN = "not_run"


class CounterForm(StrEnum):
    """What a counter-test expects in place of the right value, strongest first."""

    BASE_VALUE = "base_value"
    """What the base commit gives."""
    NEAR = "near"
    """Almost the right value."""
    NONCE = "nonce"
    """A value that occurs nowhere."""
    DATA = "data"
    """Other data in a file that the right value is read from."""
    RAISES = "raises"
    """Another exception."""
    NEGATED = "negated"
    """The opposite. Only the runner's honesty is tested."""
