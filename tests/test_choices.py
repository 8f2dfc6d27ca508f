import pytest

from assay.choices import read_budget
from assay.harness.errors import UserError


@pytest.mark.parametrize(("text", "seconds"), [("quick", 60), ("default", 300), ("thorough", 1800), ("7.5", 7.5)])
def test_budget_is_a_name_or_seconds(text: str, seconds: float) -> None:
    assert read_budget(text) == seconds


@pytest.mark.parametrize("text", ["0", "-1", "slow", "", "nan", "inf"])
def test_budget_that_is_neither_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="quick, default, thorough or a number of seconds"):
        read_budget(text)
