"""Which command may go on with a run, and what stays when it does."""

from pathlib import Path

import pytest

from assay.harness.domain import DatasetRef
from assay.harness.errors import UserError
from assay.harness.runs.manifest import Run, RunKind, refuse_another

ABOUT = {"id": "r", "dataset": {"name": "d"}, "model": "m", "started": "now", "assay_version": "1"}


def a_run(kind: RunKind = RunKind.EVALUATE, **more: object) -> Run:
    return Run.model_validate({**ABOUT, "kind": kind, **more})


@pytest.mark.parametrize("kind", [kind for kind in RunKind if kind not in {RunKind.UNKNOWN, RunKind.SOLVE}])
def test_a_run_without_a_kind_is_gone_on_with_by_all_but_solvers(kind: RunKind) -> None:
    refuse_another(Path("r"), a_run(RunKind.UNKNOWN), kind, {"the data set": "d at 1"})
    with pytest.raises(UserError, match=r"r holds a run of evaluations, not the run of a solver; .*--run-id"):
        refuse_another(Path("r"), a_run(RunKind.UNKNOWN), RunKind.SOLVE, {})


@pytest.mark.parametrize("one", [kind for kind in RunKind if kind])
@pytest.mark.parametrize("other", [kind for kind in RunKind if kind])
def test_a_folder_has_one_kind_of_run(one: RunKind, other: RunKind) -> None:
    if one is other:
        refuse_another(Path("r"), a_run(one), other, {})
        return
    with pytest.raises(UserError, match="--run-id"):
        refuse_another(Path("r"), a_run(one), other, {})


def test_what_a_run_was_given_must_not_change() -> None:
    before = a_run(given={"--timeout": "", "--strict": "no"})
    refuse_another(Path("r"), before, RunKind.EVALUATE, {"--strict": "no", "of a later version": "x"})
    with pytest.raises(UserError, match="r was made with --timeout unset, not 9; give this one another folder"):
        refuse_another(Path("r"), before, RunKind.EVALUATE, {"--timeout": "9"})


def test_what_is_joined_adds_up_and_the_mark_stays() -> None:
    first = a_run(instance_ids=["b"], environments={"b": "recipe"}, settings={"oracle": "hints", "jobs": "1"})
    both = first.extend(a_run(instance_ids=["a"], environments={"a": "recipe"}, settings={"jobs": "2"}))
    assert (both.instance_ids, sorted(both.environments)) == (["a", "b"], ["a", "b"])
    assert both.settings == {"oracle": "hints", "jobs": "2"}
    assert first.extend(a_run(settings={"oracle": "gold_patch"})).oracle == "gold_patch, hints"


def test_a_replaced_run_is_about_the_later_command_and_the_mark_stays() -> None:
    first = a_run(RunKind.VALIDATE, instance_ids=["b"], settings={"oracle": "hints"})
    later = first.extend(a_run(RunKind.VALIDATE, instance_ids=["a"]))
    assert (later.instance_ids, later.oracle) == (["a"], "hints")


def test_dataset_of_a_joined_run_is_the_later_ones() -> None:
    later = a_run(dataset=DatasetRef(name="d", revision="2"))
    assert a_run().extend(later).dataset.revision == "2"
