"""The reward functions of Assay: pure, each from an instance, a patch and its verdict to a number in [0, 1].

``docs/rewards.md`` has the table. None of them is called for an evaluation that the infrastructure ended.
"""

from collections.abc import Callable
from dataclasses import dataclass

from assay.harness.domain import Instance, Outcome, Verdict
from assay.harness.metrics.similarity import patch_similarity
from assay.harness.plugins import Registry
from assay.harness.reports import names_a_test

UNUSABLE = frozenset({Outcome.EMPTY_PATCH, Outcome.PATCH_REJECTED, Outcome.PATCH_CONFLICT})
"""Outcomes of patches that are none, are no diff, or do not apply."""


@dataclass(frozen=True, slots=True)
class RewardCase:
    instance: Instance
    patch: str
    verdict: Verdict
    """A verdict that says nothing, for a function that needs no tests."""


Reward = Callable[[RewardCase], float | None]


@dataclass(frozen=True, slots=True)
class RewardFunction:
    """A function, and the part of an evaluation that it needs; plug-ins may register the bare function instead."""

    function: Reward
    """Returns a number in [0, 1], or None if it cannot say."""
    needs_tests: bool = True
    """Whether it looks at the verdict; if not, nothing is evaluated for it."""
    needs_all_tests: bool = True
    """Whether it looks at more of the verdict than its outcome; if not, an evaluation may stop early for it."""


def resolved(case: RewardCase) -> float:
    return float(case.verdict.resolved)


def fail_to_pass(case: RewardCase) -> float:
    """Return the share of fail-to-pass tests that pass now; 0 as soon as one other test is broken."""
    return 0.0 if case.verdict.broken else _share_fixed(case)


def tests(case: RewardCase) -> float:
    """Return the share of fail-to-pass tests that pass now, times the share of pass-to-pass tests that are whole.

    Broken tests that no label names, which some rules count, count as one pass-to-pass test each.
    """
    broken = set(case.verdict.broken)
    known = broken.union(filter(names_a_test, case.instance.pass_to_pass))
    return _share_fixed(case) * (1 - len(broken) / len(known) if known else 1.0)


def applies(case: RewardCase) -> float:
    """Return 1 if the patch is a diff that applies and changes something, else 0: the penalty for a wrong form."""
    return float(case.verdict.outcome not in UNUSABLE)


def similarity(case: RewardCase) -> float | None:
    """Return the similarity to the gold patch by character; it says nothing about correctness."""
    return patch_similarity(case.instance.gold_patch, case.patch).score


def _share_fixed(case: RewardCase) -> float:
    """Return the share of fail-to-pass tests that pass; 0 where results are missing or cannot be trusted."""
    if case.verdict.resolved:
        return 1.0
    wanted, unfixed = set(filter(names_a_test, case.instance.fail_to_pass)), set(case.verdict.unfixed)
    in_doubt = not unfixed and not case.verdict.broken
    if case.verdict.outcome is not Outcome.UNRESOLVED or in_doubt or not wanted:
        return 0.0
    return 1 - min(len(unfixed), len(wanted)) / len(wanted)


REWARDS = Registry[RewardFunction | Reward](
    "reward",
    "assay.rewards",
    {
        "resolved": RewardFunction(resolved, needs_all_tests=False),
        "fail_to_pass": RewardFunction(fail_to_pass),
        "tests": RewardFunction(tests),
        "applies": RewardFunction(applies, needs_all_tests=False),
        "similarity": RewardFunction(similarity, needs_tests=False, needs_all_tests=False),
    },
)
"""Functions by name; other distributions also register bare ones."""
