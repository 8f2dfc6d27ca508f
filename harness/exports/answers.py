"""The one place that keeps runs off leaderboards: parts of the answer, other labels or rules, some tests alone."""

from assay.harness.domain import Rule
from assay.harness.errors import UserError
from assay.harness.exports.base import RunToExport
from assay.harness.grading.grade import STOPPED_EARLY
from assay.harness.runs.manifest import FAIL_FAST, LABELS, WORDS, RunKind

SUBMITTED = frozenset({RunKind.EVALUATE, RunKind.EVALUATE_SOLVED, RunKind.UNKNOWN})
"""Kinds of runs that evaluate somebody's patches; the others evaluate gold patches, or none."""
OTHER_TASKS = {
    Rule.SWT_BENCH: "its patches are tests",
    Rule.SWE_FFICIENCY: "its patches are judged by their speed",
}
"""Rules of tasks for which there is no format of a leaderboard here."""
ANSWERS = frozenset({"gold", "null"})
"""Models of control runs, which Assay itself names; older versions did not record the kind."""


def refuse_answers(run: RunToExport) -> None:
    """Raise UserError for patches that are the answer, or made with part of it, other labels, or an early stop.

    The run's kind and a mark in its settings say so. They can be lost, e.g. with a copied predictions file, so the
    patches are looked at too: if every patch that there is equals its gold patch, they are the gold patches.
    """
    given = run.manifest.oracle
    if given:
        raise _refusal(run, f"its solver was given the {given} of each instance")
    if run.manifest.given.get(LABELS):
        name = run.manifest.dataset.name
        raise _refusal(run, f"its patches were graded by other labels than the data set's own ({name})")
    for rule in set(OTHER_TASKS) & set(run.report.rules):
        raise _refusal(run, f"{OTHER_TASKS[Rule(rule)]} (rule {rule})")
    if run.manifest.settings.get(FAIL_FAST) == "yes" or _stopped_early(run):
        raise _refusal(run, f"not all tests were run (--{FAIL_FAST})")
    if run.manifest.kind not in SUBMITTED:
        raise _refusal(run, f"it is {WORDS[run.manifest.kind]}")
    if run.manifest.model in ANSWERS:
        raise _refusal(run, f"it is a control run ({run.manifest.model} patches)")
    if _all_gold(run):
        raise _refusal(run, "each of its patches is the gold patch, byte for byte")


def _refusal(run: RunToExport, reason: str) -> UserError:
    return UserError(f"{run.store.root} is exported to no leaderboard: {reason}")


def _all_gold(run: RunToExport) -> bool:
    patches = [each for each in run.predictions if each.patch.strip()]
    return bool(patches) and all(_is_gold(run, each.instance_id, each.patch) for each in patches)


def _is_gold(run: RunToExport, instance_id: str, patch: str) -> bool:
    instance = run.store.load_instance(instance_id)
    return instance is not None and instance.gold_patch.strip() == patch.strip()


def _stopped_early(run: RunToExport) -> bool:
    return any(STOPPED_EARLY in flags for flags in run.report.flags.values())
