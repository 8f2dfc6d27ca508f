"""Decides whether a run may be submitted to a leaderboard."""

from itertools import chain

from assay.harness.benchmarks import find_benchmark
from assay.harness.domain import Rule
from assay.harness.errors import UserError
from assay.harness.exports.base import RunToExport
from assay.harness.grading.grade import STOPPED_EARLY
from assay.harness.runs.manifest import FAIL_FAST, LABELS, WORDS, RunKind

SUBMITTED = frozenset({RunKind.EVALUATE, RunKind.EVALUATE_SOLVED, RunKind.UNKNOWN})
"""Kinds of runs that evaluate somebody's patches; the others evaluate gold patches, or none."""
CONTROL_MODELS = frozenset({"gold", "null"})
"""Models of control runs, which Assay itself names; older versions did not record the kind."""


def refuse_ineligible(run: RunToExport) -> None:
    """Raise UserError for patches that are the answer, or made with part of it, other labels, or an early stop.

    The run's kind and a mark in its settings say so. They can be lost, e.g. with a copied predictions file, so the
    patches are looked at too: if every patch that there is equals its gold patch, they are the gold patches.
    """
    if reason := _find_reason(run):
        raise UserError(f"{run.store.root} is exported to no leaderboard: {reason}")


def _find_reason(run: RunToExport) -> str:
    about, benchmarks = run.manifest, [find_benchmark(Rule(name)) for name in run.report.rules]
    stopped_early = STOPPED_EARLY in chain(*run.report.flags.values())
    reasons = (
        (about.oracle, f"its solver was given the {about.oracle} of each instance"),
        (
            about.given.get(LABELS),
            f"its patches were graded by other labels than the data set's own ({about.dataset.name})",
        ),
        *((each.not_ranked, f"{each.not_ranked} (rule {each.name})") for each in benchmarks),
        (about.settings.get(FAIL_FAST) == "yes" or stopped_early, f"not all tests were run (--{FAIL_FAST})"),
        (about.kind not in SUBMITTED, f"it is {WORDS.get(about.kind)}"),
        (about.model in CONTROL_MODELS, f"it is a control run ({about.model} patches)"),
    )
    gold = "each of its patches is the gold patch, byte for byte"
    return next((reason for holds, reason in reasons if holds), "") or (gold if _has_gold_patches_alone(run) else "")


def _has_gold_patches_alone(run: RunToExport) -> bool:
    patches = [each for each in run.predictions if each.patch.strip()]
    return bool(patches) and all(_is_gold(run, each.instance_id, each.patch) for each in patches)


def _is_gold(run: RunToExport, instance_id: str, patch: str) -> bool:
    instance = run.store.load_instance(instance_id)
    return instance is not None and instance.gold_patch.strip() == patch.strip()
