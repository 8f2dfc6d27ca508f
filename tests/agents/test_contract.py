"""The statuses that a solver may report."""

import pytest
from pydantic import ValidationError

from assay.agents.contract import Outcome, SolutionStatus


@pytest.mark.parametrize("status", [each for each in SolutionStatus if each is not SolutionStatus.INFRA_ERROR])
def test_outcome_takes_every_status_that_a_solver_may_report(status: SolutionStatus) -> None:
    assert Outcome.model_validate({"status": status}).status is status


def test_outcome_with_infra_error_is_refused() -> None:
    with pytest.raises(ValidationError, match="status"):
        Outcome.model_validate({"status": SolutionStatus.INFRA_ERROR})
