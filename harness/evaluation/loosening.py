"""What a recipe allows its tests beyond what every container has: never hidden from who reads a verdict."""

from assay.harness.domain import TestPlan


def loosened(plan: TestPlan) -> tuple[str, ...]:
    """Return a flag for everything that a plan loosens, for the evidence."""
    return (
        *(f"service:{service.name}" for service in plan.services),
        *(["network"] if plan.limits.network else []),
        *(f"capability:{name}" for name in plan.limits.capabilities),
        *(["faketime"] if "FAKETIME" in plan.env else []),
    )
