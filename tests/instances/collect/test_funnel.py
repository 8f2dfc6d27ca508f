from assay.instances.collect.funnel import funnel_phase
from assay.instances.collect.steps import CandidateStep, Phase


def test_rules_are_counted_most_first() -> None:
    rules = ["", "size", "tests", "tests", ""]
    steps = [CandidateStep(id=str(number), rule=rule) for number, rule in enumerate(rules)]
    found = funnel_phase(Phase.FILTER, steps)
    assert (found.taken, found.kept, list(found.dropped.items())) == (5, 2, [("tests", 2), ("size", 1)])
    assert found.why == "2 tests, 1 size"
