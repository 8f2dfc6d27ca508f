import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.instances.audit.finding import AuditFinding, AuditKind, LeakGrade, Severity
from assay.instances.audit.leakage import find_leaked, solution_leaked, solution_linked
from assay.instances.audit.subject import subject
from changes import change
from toy import make_instance

FIX = ("    total = price * count", "    if total > limit:", "        raise TooMuch(total)", "    return round(total)")
GOLD = change("shop.py", adds=FIX, drops=["    return price"])


def leaks(statement: str = "", hints: str = "", gold: str = GOLD) -> list[AuditFinding]:
    about = make_instance(problem_statement=statement, hints=hints, gold_patch=gold)
    return list(solution_leaked(subject(about)))


def test_whole_fix_in_a_code_block_is_exact() -> None:
    (found,) = leaks("It should be\r\n```python\r\n" + "\r\n".join(FIX) + "\r\n```\r\n")
    assert (found.kind, found.severity) == (AuditKind.SOLUTION_IN_ISSUE, Severity.FAULT)
    assert (found.grade, found.share) == (LeakGrade.EXACT, 1)
    assert len(found.evidence) == 4
    assert found.evidence[0] == "total = price * count  [in a code block: total = price * count]"


def test_grade_follows_the_share() -> None:
    (most,), (some,) = leaks("\n".join(FIX[:2])), leaks(FIX[3])
    assert (most.grade, most.share, most.severity) == (LeakGrade.MOST, 0.5, Severity.FAULT)
    assert (some.grade, some.share, some.severity) == (LeakGrade.SOME, 0.25, Severity.DOUBT)


def test_diff_in_the_hints_is_found() -> None:
    (found,) = leaks(hints="Try this:\n\n```diff\n" + "\n".join(f"+{line}" for line in FIX) + "\n```")
    assert (found.kind, found.grade) == (AuditKind.SOLUTION_IN_HINTS, LeakGrade.EXACT)
    assert found.evidence[3] == "return round(total)  [in a diff: +    return round(total)]"


def test_code_within_a_sentence_or_a_long_line_is_found() -> None:
    (found,) = leaks("I would say `total=price*count` instead.")
    assert found.evidence == ("total = price * count  [in the text: I would say `total=price*count` instead.]",)
    (found,) = leaks(hints=f"{'before ' * 60}return  round(total) {'after ' * 60}")
    assert "before return  round(total) after" in found.evidence[0]
    assert len(found.evidence[0]) < 200


SHOP = change("shop.py", adds=FIX[3:])
TWO = change("shop.py", drops=["    return round(price * count)"], adds=["  return round(price * count)", *FIX[1:2]])
KEPT = change("shop.py", keeps=["ready = check(shop)"], adds=["  ready = check(shop)"])
OTHERS = change("tests/test_shop.py", adds=FIX[:1]) + change("README.md", adds=FIX[1:2]) + SHOP
TRACE = 'Traceback (most recent call last):\n  File "shop.py", line 3, in f\n    return round(total)\nTooMuch: 3'


@pytest.mark.parametrize(
    ("statement", "gold", "shares"),
    [
        ("    raise TooMuch(\n        total)", GOLD, [0.25]),  # other line breaks
        ("subtotal = price * count", GOLD, []),
        ("total = price * counts", GOLD, []),
        ("The line `return round(price * count)` is wrong.", TWO, []),  # it exists
        ("ready = check(shop)", KEPT, []),
        ("\n".join(FIX[:3]), OTHERS, []),
        (FIX[3], OTHERS, [1]),
        (TRACE, GOLD, []),
        (f"<!--\n{FIX[0]}\n-->\nIt is wrong.", GOLD, []),  # hidden by a template
        ("- return price", change("shop.py", drops=["    return price"]), []),
        ("The total is wrong.", GOLD, []),
    ],
)
def test_only_lines_of_the_solution_leak_it(statement: str, gold: str, shares: list[float]) -> None:
    assert [each.share for each in leaks(statement, gold=gold)] == shares


anything = st.text(st.characters(exclude_characters="<>\"'"))
"""Neither hidden comments nor frames of a stack trace."""


@given(anything, anything)
def test_line_is_found_in_any_text_around_it(before: str, after: str) -> None:
    (found,) = find_leaked(FIX[:1], f"{before}\n{FIX[0]}\n{after}")
    assert (found.gold, found.line) == (FIX[0], FIX[0].strip())


def test_link_to_a_change_of_the_same_repository_is_found() -> None:
    text = "see https://github.com/acme/calc/pull/12 and https://github.com/other/calc/pull/13"
    (found,) = solution_linked(subject(make_instance(problem_statement=text)))
    assert (found.severity, found.evidence) == (Severity.NOTE, ("github.com/acme/calc/pull/12",))
    assert not list(solution_linked(subject(make_instance(problem_statement="see #12"))))
