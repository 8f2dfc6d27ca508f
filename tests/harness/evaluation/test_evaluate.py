"""Evaluations on the engine without containers; ``test_evaluate_in_containers`` has real ones."""

import pytest

from assay.harness.domain import ApplyStatus, Evidence, Instance, Limits, Prediction, Service, TestPlan
from assay.harness.engines.fake import FakeEngine, image_name
from assay.harness.errors import EnvironmentFailure, ImageMissing
from assay.harness.evaluation.evaluate import Task, evaluate

PLAN = TestPlan(command="pytest", report_path="/tmp/r/report.json", report_format="status_json", test_id="node")


@pytest.fixture
def engine(instance: Instance) -> FakeEngine:
    return FakeEngine({image_name(instance): instance})


def evaluated(engine: FakeEngine, instance: Instance, patch: str, plan: TestPlan = PLAN) -> Evidence:
    task = Task(instance, Prediction(instance_id=instance.id, patch=patch), plan)
    return evaluate(task, image_name(instance), engine).evidence


def test_evidence_says_what_was_run_where(engine: FakeEngine, instance: Instance) -> None:
    evidence = evaluated(engine, instance, instance.gold_patch)
    assert (evidence.apply.status, evidence.exit_code) == (ApplyStatus.APPLIED, 0)
    assert set(evidence.report.tests) == {*instance.fail_to_pass, *instance.pass_to_pass}
    assert (evidence.image, evidence.engine) == (image_name(instance), "fake")
    assert evidence.image_digest == f"sha256:{image_name(instance)}"
    assert not engine.alive


@pytest.mark.parametrize(
    ("patch", "status"), [("", ApplyStatus.EMPTY), ("no diff", ApplyStatus.REJECTED)], ids=["empty", "malformed"]
)
def test_patch_that_cannot_be_applied_opens_no_container(
    engine: FakeEngine, instance: Instance, patch: str, status: ApplyStatus
) -> None:
    assert evaluated(engine, instance, patch).apply.status is status
    assert engine.opened == 0


def test_files_of_the_tests_that_cannot_be_had_open_no_container(engine: FakeEngine, instance: Instance) -> None:
    def assets() -> dict[str, bytes]:
        raise EnvironmentFailure("no such release")

    prediction = Prediction(instance_id=instance.id, patch=instance.gold_patch)
    with pytest.raises(EnvironmentFailure):
        evaluate(Task(instance, prediction, PLAN, assets=assets), image_name(instance), engine)
    assert engine.opened == 0


def test_missing_image_is_an_error(instance: Instance) -> None:
    with pytest.raises(ImageMissing):
        evaluated(FakeEngine({}), instance, instance.gold_patch)


def test_plan_that_loosens_limits_is_flagged(engine: FakeEngine, instance: Instance) -> None:
    loose = {
        "services": (Service(name="web", command="serve", port=80),),
        "limits": Limits(network=True, capabilities=("SYS_ADMIN",)),
        "env": {"FAKETIME": "@2014-05-01 00:00:00"},
    }
    evidence = evaluated(engine, instance, instance.gold_patch, PLAN.model_copy(update=loose))
    assert evidence.flags == ("service:web", "network", "capability:SYS_ADMIN", "faketime")


def test_ordinary_plan_has_no_flags(engine: FakeEngine, instance: Instance) -> None:
    plan = PLAN.model_copy(update={"env": {"TZ": "UTC"}})
    assert evaluated(engine, instance, instance.gold_patch, plan).flags == ()
