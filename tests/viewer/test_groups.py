"""Runs that belong together."""

from assay.viewer.groups import find_groups
from assay.viewer.runs import Viewer
from solved_run import MakeRun


def names(viewer: Viewer) -> dict[str, list[str]]:
    return {name: [run.name for run in runs] for name, runs in find_groups(viewer).items()}


def test_runs_of_one_data_set_are_together_and_those_of_the_same_instances_too(judged: MakeRun) -> None:
    viewer = Viewer([judged("c", "+"), judged("a", "++"), judged("b", "+-"), judged("d", "+-", dataset="verified")])
    assert names(viewer) == {"all": ["c", "a", "b"], "all-2": ["a", "b"]}


def test_runs_without_a_common_instance_are_in_groups_that_have_one(judged: MakeRun) -> None:
    viewer = Viewer([judged("left", "+  "), judged("whole", "+++"), judged("right", "  +"), judged("right2", "  -")])
    assert names(viewer) == {
        "all": ["left", "whole"],
        "all-2": ["whole", "right", "right2"],
        "all-3": ["right", "right2"],
    }


def test_run_that_has_nothing_in_common_is_in_no_group(judged: MakeRun) -> None:
    assert names(Viewer([judged("left", "+ "), judged("right", " +"), judged("none", "  ")])) == {}
