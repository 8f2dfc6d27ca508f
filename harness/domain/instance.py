"""Nouns of the input: an instance with its issue and tests, and a prediction for it."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from assay.harness.domain.environment import Archive, PublishedImage, Recipe, RowScript
from assay.harness.domain.rule_names import Rule
from assay.harness.domain.vocabulary import CardCount, InstanceId, Model, Sha256, Status, _stays_in_the_tree


class DatasetRef(Model):
    """The data set that an instance comes from, and its revision."""

    name: str
    revision: str = ""


class PatchedCommit(Model):
    """A base tree that is a commit with a patch on top; SWE-smith's patch puts a bug into sound code."""

    commit: str
    patch: str = Field(repr=False)


class Asset(Model):
    """A binary file of the tests, put into the tree after the test patch, which as text cannot carry it."""

    path: Annotated[str, AfterValidator(_stays_in_the_tree)]
    url: str
    """URL to fetch it from; a ``file`` URL if it is part of the data set."""
    sha256: Sha256 | None = None


class Stages(Model):
    """Status of each test in the three runs that a data set was made from; a run names only the tests that it had."""

    run: dict[str, Status] = {}
    """Run at the base commit."""
    test: dict[str, Status] = {}
    """Run with the test patch."""
    fix: dict[str, Status] = {}
    """Run with the test patch and the gold patch."""


class Origin(Model):
    """Columns of a row that no field of an instance holds, kept so that the row can be written again."""

    dialect: str
    columns: tuple[tuple[str, str], ...]
    """Name of each column and its value as JSON text, which is never parsed or run."""


class Instance(Model):
    """One issue of one repository, with the patch that resolved it and the tests that show it."""

    id: InstanceId
    repo: str
    base_commit: str = ""
    archive: Archive | None = None
    """Source of the base tree if it is not a commit."""
    base: PatchedCommit | None = None
    """The base tree if it is a commit with a patch on top; ``base_commit`` is then empty."""
    lacking: tuple[str, ...] = ()
    """Files of the base tree that are left out, since the partial clones here lack them; no row names any."""
    facts: tuple[str, ...] | None = None
    """Names of what its recipe asks of the base tree and it says; None if nobody has asked. No row names any."""
    language: str = "python"
    problem_statement: str = Field(repr=False)
    gold_patch: str = Field(repr=False)
    test_patch: str = Field(repr=False)
    fail_to_pass: tuple[str, ...] = Field(repr=False)
    pass_to_pass: tuple[str, ...] = Field(repr=False)
    quarantined: tuple[str, ...] = Field(default=(), repr=False)
    """Tests taken out of the two lists above because their results vary from run to run."""
    created_at: datetime
    """``UNKNOWN_TIME`` if the row has no time."""
    version: str = ""
    hints: str = Field(default="", repr=False)
    environment: PublishedImage | Recipe | RowScript | None = Field(default=None, repr=False)
    """None for the recipe of the repository."""
    log_format: str = ""
    """Format of the logs that the labels were made from; empty if the row does not say."""
    test_id: str = ""
    """How the labels name a test (``harness.reports.IDS``); empty if the row does not say."""
    rule: Rule = Rule.SWE_BENCH
    stages: Stages | None = Field(default=None, repr=False)
    """Needed by the rules that compare with earlier runs."""
    assets: tuple[Asset, ...] = Field(default=(), repr=False)
    workload: str = Field(default="", repr=False)
    """Program whose speed counts (``evaluation.workload``); empty if the task asks for no speed-up."""
    other_workloads: tuple[str, ...] = Field(default=(), repr=False)
    """Further programs whose speed counts as much."""
    gpus: CardCount = 0
    """Cards that its tests need, if its recipe does not ask for more."""
    origin: Origin | None = Field(default=None, repr=False)
    dataset: DatasetRef = DatasetRef(name="")

    @model_validator(mode="after")
    def _expectations_are_disjoint(self) -> "Instance":
        if both := set(self.fail_to_pass) & set(self.pass_to_pass):
            message = f"FAIL_TO_PASS and PASS_TO_PASS share {sorted(both)[0]!r}"
            raise ValueError(message)
        return self


class Prediction(Model):
    """A patch proposed for an instance."""

    instance_id: str
    model: str = ""
    patch: str = Field(default="", repr=False)
    oracle: str = ""
    """Parts of the answer that its solver was given, separated by commas; no leaderboard takes such patches."""
