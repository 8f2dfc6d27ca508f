from datetime import date

import pytest

from assay.instances.audit import AuditKind, Severity, audit
from changes import change
from toy import make_instance

SOUND = "Adding gives the difference\n\n```python\nadd(1, 2)\n```\nThis prints -1 and I expect 3."
FIX = "return left + right"
GOLD = change("calc.py", adds=[f"    {FIX}"])


def test_sound_instance_has_no_findings() -> None:
    assert audit(make_instance(problem_statement=SOUND)) == ()


def test_findings_are_in_the_order_of_the_rules() -> None:
    bad = make_instance(problem_statement=f"Make it `{FIX}`", gold_patch=GOLD, fail_to_pass=(), test_patch="")
    assert [each.kind for each in audit(bad, date(2024, 1, 1))] == [
        AuditKind.SOLUTION_IN_ISSUE,
        AuditKind.NO_REPRODUCTION,
        AuditKind.UNDERSPECIFIED,
        AuditKind.NO_FAIL_TO_PASS,
        AuditKind.NO_TEST_FILE,
        AuditKind.ISSUE_BEFORE_CUTOFF,
    ]


@pytest.mark.parametrize("field", ["gold_patch", "test_patch"])
def test_malformed_patch_is_a_fault(field: str) -> None:
    (found,) = audit(make_instance(**{field: change("a.py", adds=["x"]).removesuffix("+x\n")}))
    assert (found.kind, found.severity) == (AuditKind.BROKEN_PATCH, Severity.FAULT)
    assert "shorter than expected" in found.summary


def test_instance_of_an_unknown_language_is_audited() -> None:
    about = make_instance(language="kobold", problem_statement=f"{SOUND} I would `{FIX}`.", gold_patch=GOLD)
    found = audit(about)
    assert [each.kind for each in found] == [AuditKind.SOLUTION_IN_ISSUE]
