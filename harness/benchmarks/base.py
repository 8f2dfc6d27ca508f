"""What a benchmark has to say: how its patches are planned, evaluated and judged, and what else is particular to it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from assay.harness.domain import Evidence, Instance, Prediction, Rule, TestPlan
from assay.harness.engines.base import Engine
from assay.harness.evaluation.evaluate import Evaluation, LabelTest, Task, gate_patch
from assay.harness.patches.gate import GatedPatch
from assay.harness.rulings.doubts import Ruling
from assay.harness.rulings.labels import LabelRule, judge_labels

Evaluate = Callable[[Task, str, Engine, Mapping[str, str] | None], Evaluation]
"""Takes a task, an image, an engine and labels for containers, as ``evaluation.evaluate.evaluate`` does."""


class PlanMaker(Protocol):
    """Plans the tests of an instance; a workbench is one."""

    def plan(self, instance: Instance) -> TestPlan: ...

    def plan_files(self, instance: Instance, files: Sequence[str]) -> TestPlan: ...


def plan_tests(planner: PlanMaker, instance: Instance, prediction: Prediction) -> Task:
    return Task(instance, prediction, planner.plan(instance))


@dataclass(frozen=True, kw_only=True, slots=True)
class Benchmark:
    """All that is particular to one benchmark; what is not named is as with SWE-bench."""

    name: Rule
    label_rule: LabelRule | None = None
    """The tests that count against a patch; None if it is not judged by labels."""
    own_judge: Callable[[Instance, Evidence], Ruling] | None = None
    """Judges in place of ``judge_labels`` with the label rule. Pure."""

    plan: Callable[[PlanMaker, Instance, Prediction], Task] = plan_tests
    gate: Callable[[Task], GatedPatch | Evaluation] = gate_patch
    """Returns the patch whose image is needed, or the evaluation of one that needs no container to be judged."""
    evaluate: Evaluate | None = None
    """Evaluates a gated task; None for one run of its tests."""
    label_test: LabelTest | None = None
    """Returns whether a label names a test, where each other test counts once; None where others do not count."""

    staged: bool = False
    """Its rule compares with earlier runs, ``Instance.stages``."""
    has_own_image: bool = False
    """Its instances can be tested in the image of their row alone."""
    patches_are_tests: bool = False
    """It judges test patches: an instance's own patch is its test patch, and its labels add nothing to a plan."""
    allows_fuzz: bool = False
    """Its own harness tries ``patch --fuzz=5`` if git refuses a patch."""
    labels_may_be_missing: bool = False
    """A pass-to-pass test that does not run is not broken."""
    can_stop_early: bool = True
    """It names tests to be fixed one by one, and one that did not run has not passed."""
    submitted_as: str = ""
    """Export format of its leaderboard; empty if there is none here."""
    not_ranked: str = ""
    """Why no format of a leaderboard takes its runs; empty if some does."""

    def judge(self, instance: Instance, evidence: Evidence) -> Ruling:
        """Judge a patch by the evidence of its evaluation."""
        if self.own_judge is not None:
            return self.own_judge(instance, evidence)
        assert self.label_rule is not None, self.name
        return judge_labels(instance, evidence, self.label_rule)
