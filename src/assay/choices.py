"""Choices that a person makes at a front door; importing them imports nothing else."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.harness.engines.build_limits import BuildLimits


class EnvironmentChoice(StrEnum):
    """Source of an instance's environment."""

    AUTO = "auto"
    """The row's image if the engine has it already, else the recipe's."""
    RECIPE = "recipe"
    PUBLISHED = "published"


class CounterChoice(StrEnum):
    """How counter-tests are run."""

    NONE = "none"
    BESIDE = "beside"
    """They run after the tests to be fixed, in the same session, if they are known: none is made."""
    PAIR = "pair"
    """They take the place of the tests to be fixed, in a container of their own."""
    SEALED = "sealed"
    """The tests run without their answers first, in one more container."""


class HoldChoice(StrEnum):
    """The right probe that an answer of a service waits for."""

    NONE = "none"
    ENGINE = "engine"
    """A probe of any instance: the engine knows right from wrong."""
    INSTANCE = "instance"
    """A probe of the same instance, if it has a gold patch: its image can, too."""


class RuleChoice(StrEnum):
    """A rule that any row can be judged by in place of its own."""

    SWT_BENCH = "swt-bench"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A language model behind an OpenAI-compatible endpoint."""

    name: str
    base_url: str = ""
    cassette: Path | None = None
    """File that keeps its answers and replays them."""


def read_budget(text: str) -> float:
    """Return the seconds of a comparison that a name of ``BUDGETS`` or a number stands for; raises UserError."""
    from assay.harness.errors import UserError
    from assay.harness.patchdiff.contract import BUDGETS

    try:
        seconds = BUDGETS.get(text) or float(text)
    except ValueError:
        seconds = 0.0
    if not 1 <= seconds < float("inf"):
        raise UserError(f"the budget is {', '.join(BUDGETS)} or a number of seconds from 1 on, not {text!r}")
    return seconds


def read_build_limits(text: str) -> "BuildLimits":
    """Read ``seconds=900,memory=4GB``; what is not named has its default. Raises UserError."""
    from dataclasses import replace

    from assay.harness.engines.build_limits import BuildLimits
    from assay.harness.errors import UserError
    from assay.harness.images.eviction import parse_size

    limits, sizes = BuildLimits(), {"memory": "memory_mb", "disk": "disk_mb"}
    for part in text.replace(",", " ").split():
        name, _, value = part.partition("=")
        if name in sizes:
            limits = replace(limits, **{sizes[name]: max(1, parse_size(value) // 2**20)})
        elif name in ("seconds", "processes") and value.isdecimal() and int(value):
            limits = replace(limits, **{name: int(value)})
        else:
            raise UserError(f"{part!r} is no limit of builds; write seconds=N, processes=N, memory=SIZE or disk=SIZE")
    return limits
