"""What is to be resolved, and what is proposed."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from assay.harness.domain.environment import Archive, PublishedImage, Recipe
from assay.harness.domain.vocabulary import (
    STAGED,
    InstanceId,
    Model,
    Rule,
    Sha256,
    Status,
    _stays_in_the_tree,
)


class DatasetRef(Model):
    """Which data set an instance came from, and which state of it."""

    name: str
    revision: str = ""


class PatchedCommit(Model):
    """A base tree that is a commit with a patch on top, such as SWE-smith's: sound code and the bug put into it."""

    commit: str
    patch: str = Field(repr=False)


class Asset(Model):
    """A binary file of the tests, which a textual patch cannot carry: put into the tree after the test patch."""

    path: Annotated[str, AfterValidator(_stays_in_the_tree)]
    """Where in the tree it belongs."""
    url: str
    """Where to fetch it; a ``file`` URL when the data set has it at hand."""
    sha256: Sha256 | None = None


class Stages(Model):
    """What each test did in the runs that a data set was made from; a test that a run does not name was not there."""

    run: dict[str, Status] = {}
    """At the base commit."""
    test: dict[str, Status] = {}
    """With the test patch."""
    fix: dict[str, Status] = {}
    """With the test patch and the gold patch."""


class Origin(Model):
    """What a row tells that no field of an instance holds, so that the row can be written again."""

    dialect: str
    columns: tuple[tuple[str, str], ...]
    """Name of a column, and its value as JSON text: never looked into, never run."""


class Instance(Model):
    """One issue of one repository, with the patch that resolved it and the tests that show it."""

    id: InstanceId
    repo: str
    base_commit: str = ""
    archive: Archive | None = None
    """Where the base tree comes from when it is not a commit."""
    base: PatchedCommit | None = None
    """The base tree when it is a commit with a patch on top; ``base_commit`` is empty then."""
    language: str = "python"
    problem_statement: str = Field(repr=False)
    gold_patch: str = Field(repr=False)
    test_patch: str = Field(repr=False)
    fail_to_pass: tuple[str, ...] = Field(repr=False)
    pass_to_pass: tuple[str, ...] = Field(repr=False)
    quarantined: tuple[str, ...] = Field(default=(), repr=False)
    """Tests taken out of the two lists above, since they do not come out the same every time."""
    created_at: datetime
    """``UNKNOWN_TIME`` if nobody tells."""
    version: str = ""
    hints: str = Field(default="", repr=False)
    environment: PublishedImage | Recipe | None = Field(default=None, repr=False)
    """None: the recipe of the repository."""
    log_format: str = ""
    """Report format of the logs that the labels were made from; empty if nobody tells."""
    test_id: str = ""
    """How the labels name a test (``harness.reports.IDS``); empty if nobody tells."""
    rule: Rule = Rule.SWE_BENCH
    stages: Stages | None = Field(default=None, repr=False)
    """For the rules that compare with earlier runs."""
    assets: tuple[Asset, ...] = Field(default=(), repr=False)
    origin: Origin | None = Field(default=None, repr=False)
    dataset: DatasetRef = DatasetRef(name="")

    @model_validator(mode="after")
    def _expectations_are_disjoint(self) -> "Instance":
        both = set(self.fail_to_pass) & set(self.pass_to_pass)
        if both:
            message = f"FAIL_TO_PASS and PASS_TO_PASS share {sorted(both)[0]!r}"
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _rule_has_its_stages(self) -> "Instance":
        if self.rule in STAGED and self.stages is None:
            message = f"the rule {self.rule} compares with earlier runs, but there are no stages"
            raise ValueError(message)
        return self


class Prediction(Model):
    """A patch that somebody or something proposes for an instance."""

    instance_id: str
    model: str = ""
    patch: str = Field(default="", repr=False)
