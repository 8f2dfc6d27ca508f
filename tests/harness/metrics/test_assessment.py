"""All measures of one patch, and their means."""

import pytest

from assay.harness.domain import Instance, Origin
from assay.harness.errors import EnvironmentFailure
from assay.harness.metrics.assessment import PatchMeasures, Share, assess, means
from assay.harness.metrics.similarity import Similarity
from toy import GOLD, TESTS, make_instance

CALC = {"calc.py": "def add(a, b):\n    return a - b\n"}


def test_all_measures_of_a_patch() -> None:
    found = assess(make_instance(problem_statement="Wrong sum"), GOLD, CALC.get, resolved=True)
    assert found.similarity.score == 1.0
    assert found.complexity == "single_function"
    assert (found.category.name, found.category.by) == ("bug_fix", "title: Wrong")
    assert found.retrieval.files is not None
    assert found.retrieval.nodes is not None
    assert (found.retrieval.files.f1, found.retrieval.nodes.f1) == (1, 1)


def test_without_the_tree_only_measures_that_need_it_are_missing(instance: Instance) -> None:
    def texts(path: str) -> str | None:
        raise EnvironmentFailure("no mirror has it")

    found = assess(instance, GOLD, texts, resolved=True)
    assert found.similarity.score == 1.0
    assert found.complexity is None
    assert found.retrieval.files is not None
    assert found.retrieval.nodes is None
    assert found.retrieval.problem == "the base tree cannot be had: no mirror has it"


def test_similarity_that_separates_the_resolved_is_an_area_under_the_curve() -> None:
    one = assess(make_instance(), GOLD, CALC.get, resolved=True)

    def score(value: float | None, *, resolved: bool) -> PatchMeasures:
        return one.model_copy(update={"resolved": resolved, "similarity": Similarity(score=value)})

    resolved = [score(value, resolved=True) for value in (1.0, 0.5)]
    others = [score(value, resolved=False) for value in (0.5, 0.0, None)]
    found = means(resolved + others).similarity_separates
    assert found is not None
    assert (found.resolved, found.unresolved, found.area.estimate) == (0.75, 0.25, 0.875)
    assert 0 < found.area.low < 0.875 < found.area.high == 1
    assert means(resolved).similarity_separates is None


def test_means_are_over_the_scored_patches() -> None:
    wrong = make_instance(id="acme__calc-2", gold_patch="words", problem_statement="[Bug] it is")
    sums = make_instance(problem_statement="Sums of two")
    found = means(
        [
            assess(sums, GOLD, CALC.get, resolved=True),
            assess(sums, "", CALC.get, resolved=False),
            assess(wrong, TESTS, CALC.get, resolved=False),
        ]
    )
    assert (found.files_scored, found.nodes_scored, found.similarity_scored) == (2, 2, 2)
    assert found.files is not None
    assert (found.files.precision, found.files.recall, found.files.f1) == (0.5, 0.5, 0.5)
    assert found.similarity == pytest.approx(0.5)
    shares = {name: (share.resolved, share.instances) for name, share in found.by_complexity.items()}
    assert shares == {"not known": (0, 1), "single_function": (1, 2)}
    assert {name: (each.resolved, each.instances) for name, each in found.by_category.items()} == {
        "bug_fix": (0, 1),
        "unknown": (1, 2),
    }


def test_resolved_instances_are_counted_by_repository_language_and_the_rows_own_difficulty() -> None:
    hard = Origin(dialect="swebench", columns=(("difficulty", '"1-4 hours"'),))
    other = make_instance(id="acme__web-1", repo="acme/web", language="go", gold_patch="words", origin=hard)
    found = means([assess(make_instance(), GOLD, CALC.get, resolved=True), assess(other, "", CALC.get, resolved=False)])
    won, lost = Share(resolved=1, instances=1), Share(resolved=0, instances=1)
    assert found.by_repository == {"acme/calc": won, "acme/web": lost}
    assert found.by_language == {"go": lost, "python": won}
    assert found.by_difficulty == {"1-4 hours": lost, "not known": won}


def test_means_of_no_patches_are_none() -> None:
    found = means([])
    assert (found.files, found.nodes, found.similarity, found.files_scored) == (None, None, None, 0)
