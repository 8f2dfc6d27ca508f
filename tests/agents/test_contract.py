from typing import get_args

import pytest
from pydantic import ValidationError

from assay.agents.contract import AgentStatus, SolutionStatus, SolveOutcome


def test_solve_outcome_refuses_infra_error() -> None:
    with pytest.raises(ValidationError, match="status"):
        SolveOutcome.model_validate({"status": "infra_error"})


def test_solve_outcome_takes_every_other_status() -> None:
    assert {*get_args(AgentStatus)} == {*SolutionStatus} - {SolutionStatus.INFRA_ERROR}
    for status in get_args(AgentStatus):
        assert SolveOutcome.model_validate({"status": str(status)}).status is status
