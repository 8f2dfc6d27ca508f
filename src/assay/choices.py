"""Choices that a person makes at a front door; importing them imports nothing else."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class EnvironmentChoice(StrEnum):
    """Source of an instance's environment."""

    AUTO = "auto"
    """The row's image if the engine has it already, else the recipe's."""
    RECIPE = "recipe"
    PUBLISHED = "published"


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
