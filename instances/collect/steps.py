"""What each phase says about a candidate: the lines of its file."""

from datetime import datetime
from enum import StrEnum

from assay.harness.domain import Instance, Model, Recipe
from assay.harness.grading.stability import Stability
from assay.instances.dataset.derive import Derivation
from assay.instances.trees.indexes import IndexedRelease


class Phase(StrEnum):
    """A phase of a collection; each takes the candidates that the one before it keeps."""

    FIND = "find"
    PAIR = "pair"
    FILTER = "filter"
    SETUP = "setup"
    VALIDATE = "validate"


class CandidateStep(Model):
    id: str
    """Id of the instance that the candidate may become."""
    rule: str = ""
    """Name of the rule by which it falls out; empty if it stays."""
    reason: str = ""

    @property
    def kept(self) -> bool:
        return not self.rule


class Change(Model):
    """A commit of a repository's history, as far as its message goes."""

    repo: str
    commit: str
    base: str
    """The first parent."""
    date: datetime
    """When the change came into the branch."""
    author: str
    message: str
    merged: tuple[str, ...] = ()
    """Messages of the commits that a merge brought, oldest first."""
    number: int = 0
    """Number of the pull request; 0 if nothing names one."""
    issues: tuple[int, ...] = ()
    """Issues that the messages close."""
    merges: bool = False


class ReleasePair(Model):
    """Two releases of a package that follow each other in its index."""

    index: str
    name: str
    old: IndexedRelease
    new: IndexedRelease


class Found(CandidateStep):
    """A line of ``find``: a change of a repository, or a pair of releases."""

    change: Change | None = None
    releases: ReleasePair | None = None


class Paired(CandidateStep):
    """A line of ``pair``: the instance, still without labels."""

    instance: Instance | None = None
    derivation: Derivation | None = None
    """What the patches of two releases are derived from."""
    statement_from: str = ""
    """Source of the statement: ``issue``, ``message``, ``change log``, or ``file`` if the user gave it."""


class Filtered(CandidateStep):
    """A line of ``filter``."""

    license: str = ""
    """SPDX name of the license at the base commit; empty if its text is not known."""


class Prepared(CandidateStep):
    """A line of ``setup``."""

    recipe: Recipe | None = None
    """The one that was found; None if a folder of recipes, or a shipped one, names the repository."""


class Validated(CandidateStep):
    """A line of ``validate``: labels on which all runs agree."""

    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    stability: Stability | None = None
