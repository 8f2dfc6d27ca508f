"""Controls without a model: ``gold`` must be resolved, ``null`` must not."""

from typing import ClassVar

from assay.agents.contract import Capabilities, Oracle, SolveOutcome, SolveSession
from assay.agents.trajectory import Step
from assay.harness.domain import Model


class NoSettings(Model):
    """There is nothing to set."""


class Gold:
    """Applies the gold patch; shows that the path from workspace to verdict loses nothing."""

    Settings: ClassVar[type[Model]] = NoSettings
    name = "gold"
    version = "1"
    capabilities = Capabilities(oracle=frozenset({Oracle.GOLD_PATCH}), needs_model=False)

    def __init__(self, settings: NoSettings) -> None: ...

    def solve(self, session: SolveSession) -> SolveOutcome:
        """Apply the gold patch; if it does not apply, return it as the outcome's patch."""
        patch = session.oracles.gold_patch
        session.recorder.add(Step(source="agent", message="applies the gold patch", llm_call_count=0))
        if session.workspace.apply(patch):
            return SolveOutcome()
        return SolveOutcome(patch=patch, error="the gold patch does not apply to the workspace; it stands as it is")


class Null:
    """Changes nothing."""

    Settings: ClassVar[type[Model]] = NoSettings
    name = "null"
    version = "1"
    capabilities = Capabilities(needs_model=False)

    def __init__(self, settings: NoSettings) -> None: ...

    def solve(self, session: SolveSession) -> SolveOutcome:
        session.recorder.add(Step(source="agent", message="changes nothing", llm_call_count=0))
        return SolveOutcome()
