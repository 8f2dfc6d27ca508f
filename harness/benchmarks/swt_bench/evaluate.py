"""Evaluating a patch of tests (SWT-bench): its tests on the base tree and on the tree with the gold patch.

Each run is an ordinary evaluation, in which the gold patch, or none, is what is applied, and the patch of tests takes
the place of the instance's own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from assay.harness import languages
from assay.harness.benchmarks.base import PlanMaker
from assay.harness.benchmarks.swt_bench.change_coverage import change_coverage
from assay.harness.benchmarks.swt_bench.lookalike import make_lookalike
from assay.harness.benchmarks.swt_bench.rule import judge
from assay.harness.domain import ApplyStatus, Evidence, FailedPart, Instance, Outcome, Prediction, TestedTree, TestPlan
from assay.harness.engines.base import JUDGED_LABEL, Engine
from assay.harness.errors import EngineError
from assay.harness.evaluation.evaluate import Evaluation, Task, evaluate, judge_without_container
from assay.harness.evaluation.protection import ATTRIBUTES, check_spelling, is_product
from assay.harness.languages.base import Lines
from assay.harness.patches.diff import MalformedPatchError, drop_binary_hunks, find_touched_paths, read_diff, render
from assay.harness.patches.gate import GatedPatch, gate

OTHERS_LEFT_OUT = "files_that_are_no_tests_left_out"
"""Flag of a verdict on a test patch that changes other files too, which are not applied."""
NOTHING = "the patch changes no file of the tests"


def only_tests(instance: Instance, patch: str) -> GatedPatch:
    """Return the part of a patch that changes tests, without the rest; raises MalformedPatchError.

    A file is the tests' if its path says so, or if the instance's own test patch touches it. Files that steer the
    runner, build products and files of the gold patch are not.
    """
    whole = gate(drop_binary_hunks(patch), allow_binary=True)
    own, gold = (frozenset(find_touched_paths(text)) for text in (instance.test_patch, instance.gold_patch))

    def is_theirs(path: str) -> bool:
        return path not in gold and (path in own or _is_of_tests(instance, path))

    if all(map(is_theirs, whole.paths)):
        part = whole
    else:
        kept = [each for each in read_diff(whole.text) if all(map(is_theirs, filter(None, (each.old, each.new))))]
        part = gate(render(kept), allow_binary=True)
    others = [path for path in part.paths if not is_theirs(path)]
    if others:
        raise MalformedPatchError(f"git reads {others[0]!r} in a part that is another file's")
    check_spelling(instance, TestPlan(command=""), part.created)
    return part


def _is_of_tests(instance: Instance, path: str) -> bool:
    language = languages.find_or_none(instance.language)
    if language is None or path.rpartition("/")[2] == ATTRIBUTES:
        return False
    return language.is_test_file(path) and not language.runner_config(path) and not is_product(path, language)


def replace_tests(instance: Instance, prediction: Prediction) -> Instance:
    """Put the prediction's tests in place of the instance's; none if the patch may not be applied."""
    try:
        tests = only_tests(instance, prediction.patch).text
    except MalformedPatchError:  # which ``gate_tests`` says
        tests = ""
    return instance.model_copy(update={"test_patch": tests, "assets": ()})


def plan_test_patch(planner: PlanMaker, instance: Instance, prediction: Prediction) -> Task:
    """Plan the tests of the patch, and those of the base commit in the same files."""
    patched = replace_tests(instance, prediction)
    bare = patched.model_copy(update={"test_patch": ""})
    plan, beside = planner.plan(patched), planner.plan_files(bare, find_files_at_base(patched))
    if not beside.targets and plan.targets:  # without targets all tests run, with the patch and without it
        return Task(instance, prediction, plan)
    return Task(instance, prediction, plan, beside=beside)


def find_files_at_base(instance: Instance) -> tuple[str, ...]:
    tests = gate(instance.test_patch, allow_binary=True)
    return tuple(path for path in tests.paths if path not in tests.created)


def gate_tests(task: Task) -> GatedPatch | Evaluation:
    """Return the gold patch, whose image serves every tree; or the evaluation of a patch without usable tests."""
    try:
        tests = only_tests(task.instance, task.prediction.patch)
    except MalformedPatchError as error:
        return judge_without_container(task, ApplyStatus.REJECTED, str(error))
    if tests.is_empty:
        return judge_without_container(task, ApplyStatus.EMPTY, NOTHING if task.prediction.patch.strip() else "")
    return gate(task.instance.gold_patch, allow_binary=True)


def evaluate_tests(task: Task, image: str, engine: Engine, labels: Mapping[str, str] | None = None) -> Evaluation:
    """Run a patch of tests on the trees that decide about it.

    The image is the gold patch's. The evaluation is that of the deciding run, with the evidence of every tree.
    """
    trees = _Trees(task, image, engine, {**(labels or {}), JUDGED_LABEL: "tests"})
    base = trees.run(TestedTree.BASE, task)
    if _is_unusable(base):
        return trees.conclude(base)
    gold = trees.run(TestedTree.GOLD, task)
    plan_alone = task.beside or task.plan.model_copy(update={"test_patch": "", "restore": ()})
    for tree in (TestedTree.BASE_ALONE, TestedTree.GOLD_ALONE):
        does_not_fit = tree is TestedTree.GOLD_ALONE and gold.evidence.apply.status is ApplyStatus.CONFLICT
        if task.beside is not None or does_not_fit:
            alone = trees.run(tree, replace(task, plan=plan_alone))
            if _is_unusable(alone):
                return trees.conclude(_blame_environment(alone))
    if _is_unusable(gold):
        return trees.conclude(gold)
    if judge(task.instance, trees.conclude(gold).evidence).outcome is Outcome.RESOLVED and trees.lookalike:
        lookalike = trees.run(TestedTree.LOOKALIKE, task)
        if lookalike.evidence.failed_part is FailedPart.INFRASTRUCTURE:
            return trees.conclude(lookalike)
    return trees.conclude(gold, change_coverage(task, trees.measure))


def _is_unusable(evaluation: Evaluation) -> bool:
    evidence = evaluation.evidence
    refused = evidence.apply.status in {ApplyStatus.REJECTED, ApplyStatus.CONFLICT}
    return refused or evidence.failed_part is not FailedPart.NONE


def _blame_environment(evaluation: Evaluation) -> Evaluation:
    """Blame the instance for a tree that cannot be made without the test patch, unless the engine failed."""
    evidence = evaluation.evidence
    if evidence.failed_part is not FailedPart.NONE:
        return evaluation
    error = f"the instance's own gold patch does not apply: {evidence.apply.detail}"
    found = evidence.model_copy(update={"failed_part": FailedPart.ENVIRONMENT, "error": error})
    return replace(evaluation, evidence=found)


@dataclass(frozen=True, slots=True)
class _Trees:
    """The trees of one evaluation, each in a container of its own."""

    task: Task
    image: str
    engine: Engine
    labels: Mapping[str, str]
    runs: dict[TestedTree, Evaluation] = field(default_factory=dict)

    @property
    def lookalike(self) -> str:
        """The patch of the tree that only looks changed; empty if there is none."""
        language = languages.find_or_none(self.task.instance.language)
        return make_lookalike(self.task.instance.gold_patch, language.LINES if language else Lines())

    def run(self, tree: TestedTree, task: Task) -> Evaluation:
        self.runs[tree] = self._evaluate(tree, task)
        return self.runs[tree]

    def measure(self, tree: TestedTree, task: Task) -> Evaluation | None:
        """Run a task whose failure costs a measure and no verdict; None if it fails."""
        try:
            return self._evaluate(tree, task)
        except EngineError:
            return None

    def _evaluate(self, tree: TestedTree, task: Task) -> Evaluation:
        gold = self.task.instance.gold_patch
        patch = {TestedTree.GOLD: gold, TestedTree.GOLD_ALONE: gold, TestedTree.LOOKALIKE: self.lookalike}.get(tree, "")
        prediction = Prediction(instance_id=task.instance.id, model=tree, patch=patch)
        task = replace(task, prediction=prediction, runs_empty=True, tests_are_judged=True)
        return evaluate(task, self.image, self.engine, self.labels)

    def conclude(self, last: Evaluation, measures: Mapping[str, float] | None = None) -> Evaluation:
        """Return one evaluation from those of the trees; ``last`` decides."""
        flags = dict.fromkeys(flag for each in self.runs.values() for flag in each.evidence.flags)
        given = gate(drop_binary_hunks(self.task.prediction.patch), allow_binary=True)
        left_out = {*given.paths} - {*find_touched_paths(self.task.plan.test_patch)}
        runs: dict[TestedTree, Evidence] = {tree: each.evidence for tree, each in self.runs.items()}
        timings = last.evidence.timings
        took = timings.model_copy(update={"test": sum(each.timings.test for each in runs.values())})
        evidence = last.evidence.model_copy(
            update={
                "trees": runs,
                "measures": dict(measures or {}),
                "flags": (*flags, *([OTHERS_LEFT_OUT] if left_out else [])),
                "timings": took,
            }
        )
        outputs = {f"{tree}.txt": each.output for tree, each in self.runs.items() if each is not last}
        files = {**last.report_files, **outputs}
        return Evaluation(evidence, self.task.prediction.patch, last.output, files)
