"""One thing done for each instance: order, attempts, and failures that stop nobody."""

import threading
from collections import Counter

import pytest

from assay.harness.errors import EngineError, EnvironmentFailure, ImageMissing
from assay.harness.runs.crew import Progress
from assay.harness.runs.each import Done, ForEach, do_for_each
from toy import make_instance


@pytest.fixture
def instances():
    return [make_instance(id=f"acme__{repo}-{number}", repo=f"acme/{repo}") for repo in "ab" for number in range(3)]


def done_by(instances, do, jobs=2) -> list[Done]:
    return do_for_each(instances, do, jobs, Progress(), abort=lambda: None, pause=0)


def test_repositories_take_turns(instances):
    order = ForEach(str).plan({each.id: each for each in instances}, 6)

    assert order == ["acme__a-0", "acme__b-0", "acme__a-1", "acme__b-1", "acme__a-2", "acme__b-2"]


def test_results_are_in_the_order_of_the_instances(instances):
    assert [each.result for each in done_by(instances, lambda each: each.id.upper())] == [
        each.id.upper() for each in instances
    ]


def test_what_the_infrastructure_broke_is_tried_again_and_nothing_else_is(instances):
    tries: Counter[str] = Counter()
    lock = threading.Lock()

    def do(instance) -> str:
        with lock:
            tries[instance.id] += 1
        match instance.id, tries[instance.id]:
            case "acme__a-0", 1 | 2:
                raise EngineError("the engine restarts")
            case "acme__a-1", _:
                raise EnvironmentFailure("a package is missing")
            case "acme__a-2", _:
                raise ImageMissing("gone")
            case "acme__b-0", _:
                raise RuntimeError("a bug")
            case "acme__b-1", _:
                raise EngineError("the engine is gone")
        return "ready"

    done = {each.instance_id[6:]: each for each in done_by(instances, do)}

    assert {name: (each.result, each.error) for name, each in done.items()} == {
        "a-0": ("ready", ""),
        "a-1": ("", "a package is missing"),
        "a-2": ("", "gone"),
        "b-0": ("", "internal error: RuntimeError('a bug')"),
        "b-1": ("", "the engine is gone"),
        "b-2": ("ready", ""),
    }
    assert tries == {"acme__a-0": 3, "acme__a-1": 1, "acme__a-2": 1, "acme__b-0": 1, "acme__b-1": 3, "acme__b-2": 1}
