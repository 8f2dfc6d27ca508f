"""What a run saves of one evaluation, beside its evidence."""

import hashlib

from pydantic import BaseModel, ConfigDict, Field

from assay.harness.domain import Cause, Instance, Model, PatchDiffResult, Rule, Verdict


class Labels(BaseModel):
    """The columns of a saved instance that say by what its outcome was decided; no other is read."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    repo: str
    rule: Rule = Instance.model_fields["rule"].default
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]

    @property
    def expected(self) -> str:
        """Hash of the rule and the expected tests; equal for instances that are graded alike."""
        parts = (self.rule, str(len(self.fail_to_pass)), *self.fail_to_pass, *self.pass_to_pass)
        return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()


class SavedVerdict(Model):
    """A verdict and the key of the content that it was given for."""

    key: str
    seconds: float = 0.0
    graded: str = ""
    verdict: Verdict


class SavedPatchDiff(Model):
    """A comparison with gold and the key of the content that it was made for."""

    key: str
    comparison: PatchDiffResult


class SavedCause(Model):
    """A cause so far, the key of the content that it was found for, and what every evaluated part of the patch did."""

    key: str
    cause: Cause
    tried: dict[str, bool] = Field(default_factory=dict)
    """Name of the tree that a part makes, and whether it resolves."""
