import pytest
from pydantic import TypeAdapter, ValidationError

from assay.harness.domain import FAILING, INFRASTRUCTURE, PASSING, InstanceId, Model, Outcome, Status


@pytest.mark.parametrize("name", ["django__django-11099", "a", "A.b-c_1", "x" * 128])
def test_instance_id_is_a_folder_name(name: str) -> None:
    assert TypeAdapter(InstanceId).validate_python(name) == name


@pytest.mark.parametrize("name", ["", ".hidden", "-x", "a/b", "a..b", "a b", "x" * 129, "é"])
def test_instance_id_that_could_leave_its_folder_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(InstanceId).validate_python(name)


def test_no_status_passes_and_fails() -> None:
    assert not PASSING & FAILING
    assert set(Status) - PASSING - FAILING == {Status.SKIPPED, Status.MISSING}


def test_outcomes_and_rules_with_a_special_role() -> None:
    assert set(Outcome) > INFRASTRUCTURE


def test_model_is_frozen_and_refuses_unknown_fields() -> None:
    class Point(Model):
        x: int

    with pytest.raises(ValidationError, match="frozen"):
        Point(x=1).x = 2
    with pytest.raises(ValidationError, match="Extra inputs"):
        Point.model_validate({"x": 1, "y": 2})
