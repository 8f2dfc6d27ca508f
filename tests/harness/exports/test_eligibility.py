from dataclasses import replace

import pytest

from assay.harness.domain import Instance, Rule, Status
from assay.harness.errors import UserError
from assay.harness.exports import FORMATS
from assay.harness.exports.eligibility import refuse_ineligible
from assay.harness.exports.write import write
from assay.harness.grading.grade import STOPPED_EARLY
from assay.harness.runs.manifest import RunKind
from exported import Made, graded
from toy import make_instance


@pytest.mark.parametrize(
    ("about", "reason"),
    [
        ({"settings": {"oracle": "gold_patch"}}, "its solver was given the gold_patch of each instance"),
        ({"given": {"--labels": "0123"}}, "its patches were graded by other labels than the data set's own"),
        ({"settings": {"fail-fast": "yes"}}, "not all tests were run"),
        ({"kind": RunKind.CONTROL}, "it is an evaluation of gold patches or of none"),
        ({"kind": RunKind.VALIDATE}, "it is a validation of instances"),
        ({"kind": RunKind.AUDIT}, "it is an audit of instances"),
        ({"kind": RunKind.DEMO}, "it is a demonstration"),
        ({"model": "gold"}, "it is a control run"),
        ({"model": "null"}, "it is a control run"),
    ],
)
def test_a_marked_run_goes_to_no_leaderboard(
    instance: Instance, make_run: Made, about: dict[str, object], reason: str
) -> None:
    run = make_run(
        graded(instance, dict.fromkeys(instance.fail_to_pass + instance.pass_to_pass, Status.PASSED)), **about
    )
    for name, chosen in FORMATS.items():
        folder = run.store.root.with_name(name)
        if chosen.LEADERBOARD:
            with pytest.raises(UserError, match=f"exported to no leaderboard: {reason}"):
                write(chosen, run, folder)
            assert not folder.exists()


def test_gold_patches_without_a_mark_go_to_no_leaderboard(make_run: Made) -> None:
    one, two = (graded(make_instance(id=name), {}) for name in ("a-1", "a-2"))
    gold = one.instance.gold_patch
    with pytest.raises(UserError, match="each of its patches is the gold patch"):
        refuse_ineligible(make_run(one, two, patches={"a-1": gold, "a-2": f"\n{gold}\n"}))
    with pytest.raises(UserError, match="each of its patches is the gold patch"):
        refuse_ineligible(make_run(one, two, patches={"a-1": gold, "a-2": ""}))


def test_patches_of_tests_go_to_no_leaderboard(make_run: Made) -> None:
    task = graded(make_instance(rule=Rule.SWT_BENCH, fail_to_pass=(), pass_to_pass=()), {})
    with pytest.raises(UserError, match="its patches are tests"):
        refuse_ineligible(make_run(task))


def test_a_models_run_is_not_refused(make_run: Made) -> None:
    one, two = (graded(make_instance(id=name), {}) for name in ("a-1", "a-2"))
    for kind in (RunKind.EVALUATE, RunKind.EVALUATE_SOLVED, RunKind.UNKNOWN):
        refuse_ineligible(make_run(one, two, patches={"a-1": one.instance.gold_patch}, kind=kind))
    refuse_ineligible(make_run(one, two, patches={"a-1": "", "a-2": ""}))


def test_a_run_with_an_early_stop_goes_to_no_leaderboard_without_a_mark(make_run: Made) -> None:
    one, two = (graded(make_instance(id=name), {}) for name in ("a-1", "a-2"))
    stopped = replace(two, verdict=two.verdict.model_copy(update={"flags": (STOPPED_EARLY,)}))
    with pytest.raises(UserError, match="not all tests were run"):
        refuse_ineligible(make_run(one, stopped))
