from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from assay.harness.domain import Instance
from assay.instances.collect.duplicates import KnownInstances, index_known
from assay.instances.collect.rules import CandidateLimits, Sieve
from assay.instances.collect.steps import Filtered, Paired
from changes import change

DAY = datetime(2024, 3, 2, tzinfo=UTC)

GOLD = change("calc.py", adds=["total = sum(numbers, start)", "total = round(total, digits)"])
FIELDS: Mapping[str, object] = {
    "id": "acme__calc-3",
    "repo": "acme/calc",
    "base_commit": "1" * 40,
    "problem_statement": "The total of an empty list raises an error, but zero is expected",
    "gold_patch": GOLD,
    "test_patch": change("tests/test_calc.py", adds=["assert total([]) == 0"]),
    "fail_to_pass": (),
    "pass_to_pass": (),
    "created_at": DAY,
}


def decide(
    license_name: str = "MIT", author: str = "Somebody <s@example.org>", sieve: Sieve | None = None, **fields: object
) -> Filtered:
    instance = Instance.model_validate({**FIELDS, **fields})
    sieve = sieve or Sieve(CandidateLimits(), KnownInstances())
    return sieve.decide(Paired(id=instance.id, instance=instance), author, license_name)


def test_a_good_candidate_goes_on_with_its_license() -> None:
    assert decide() == Filtered(id="acme__calc-3", license="MIT")


@pytest.mark.parametrize(
    ("rule", "fields"),
    [
        ("bot", {"author": "dependabot[bot] <b@example.org>"}),
        ("revert", {"problem_statement": 'Revert "Sum of the empty list must not raise"'}),
        ("code", {"gold_patch": change("README.md", adds=["calc adds numbers"])}),
        ("code", {"gold_patch": ""}),
        ("tests", {"test_patch": ""}),
        ("tests", {"test_patch": change("tests/data.txt", adds=["1 2 3"])}),
        ("size", {"gold_patch": change("calc.py", adds=(f"total += {number} * step" for number in range(501)))}),
        ("size", {"gold_patch": "".join(change(f"calc{number}.py", adds=["total = 0"]) for number in range(11))}),
        ("license", {"license_name": ""}),
        ("license", {"license_name": "GPL-3.0"}),
        ("statement", {"problem_statement": "Fix the sum"}),
        ("audit", {"problem_statement": "Use the line\n\n    total = sum(numbers, start)\n\nin the module"}),
    ],
)
def test_a_candidate_falls_out_by_the_rule_that_names_it(rule: str, fields: dict[str, Any]) -> None:
    found = decide(**fields)
    assert (found.rule, bool(found.reason)) == (rule, True)


def test_a_license_or_a_language_can_be_asked_for() -> None:
    limits = CandidateLimits(licenses=frozenset({"GPL-3.0"}), languages=frozenset({"go"}))
    assert decide("GPL-3.0", sieve=Sieve(limits, KnownInstances())).rule == "language"
    limits = limits.model_copy(update={"languages": frozenset({"python"})})
    assert decide("GPL-3.0", sieve=Sieve(limits, KnownInstances())).kept
    assert decide("", sieve=Sieve(limits, KnownInstances())).reason.endswith("--license any takes it")
    limits = limits.model_copy(update={"licenses": frozenset({"any"})})
    assert decide("", sieve=Sieve(limits, KnownInstances())).kept


def test_what_a_known_data_set_has_falls_out_by_id_or_by_patch() -> None:
    own = Instance.model_validate({**FIELDS, "id": "Acme__calc-3"})
    assert decide(sieve=Sieve(CandidateLimits(), index_known([own]))).rule == "known id"
    found = decide(id="fork__calc-7", sieve=Sieve(CandidateLimits(), index_known([own])))
    assert (found.rule, found.reason) == ("known patch", "its patch is nearly that of Acme__calc-3")


def test_the_second_of_two_like_patches_falls_out() -> None:
    sieve = Sieve(CandidateLimits(), KnownInstances())
    assert decide(sieve=sieve).kept
    assert decide(sieve=sieve, id="acme__calc-9").rule == "duplicate"
    other = change("calc.py", adds=["total = fsum(numbers)", "return total or default"])
    assert decide(sieve=sieve, id="acme__calc-10", gold_patch=other).kept


def test_a_patch_that_fell_out_makes_no_duplicate() -> None:
    sieve = Sieve(CandidateLimits(), KnownInstances())
    assert decide("GPL-3.0", sieve=sieve).rule == "license"
    assert decide(sieve=sieve).kept
