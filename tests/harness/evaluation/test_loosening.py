from assay.harness.domain import Limits, Service, TestPlan
from assay.harness.evaluation.loosening import loosened


def test_everything_that_a_plan_loosens_is_flagged() -> None:
    plan = TestPlan(
        command="pytest",
        services=(Service(name="web", command="serve", port=80),),
        limits=Limits(network=True, capabilities=("SYS_ADMIN",)),
        env={"FAKETIME": "@2014-05-01 00:00:00"},
    )
    assert loosened(plan) == ("service:web", "network", "capability:SYS_ADMIN", "faketime")


def test_an_ordinary_plan_loosens_nothing() -> None:
    assert loosened(TestPlan(command="pytest", env={"TZ": "UTC"})) == ()
