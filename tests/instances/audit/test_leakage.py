from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.domain import Instance
from assay.instances.audit.finding import AuditFinding, AuditKind, LeakGrade, Severity
from assay.instances.audit.leakage import find_leaked, solution_leaked, solution_linked
from assay.instances.audit.subject import subject
from changes import change

FIX = ("    total = price * count", "    if total > limit:", "        raise TooMuch(total)", "    return round(total)")
GOLD = change("shop.py", adds=FIX, drops=["    return price"])


@pytest.fixture
def leaks(make_instance: Callable[..., Instance]) -> Callable[..., list[AuditFinding]]:
    def find(statement: str = "", hints: str = "", gold: str = GOLD) -> list[AuditFinding]:
        about = make_instance(problem_statement=statement, hints=hints, gold_patch=gold)
        return list(solution_leaked(subject(about)))

    return find


def test_whole_fix_in_a_code_block_is_exact(leaks: Callable[..., list[AuditFinding]]) -> None:
    (found,) = leaks("It should be\r\n```python\r\n" + "\r\n".join(FIX) + "\r\n```\r\n")
    assert (found.kind, found.severity, found.grade, found.share) == (
        AuditKind.SOLUTION_IN_ISSUE,
        Severity.FAULT,
        LeakGrade.EXACT,
        1,
    )
    assert len(found.evidence) == 4
    assert found.evidence[0] == "total = price * count  [in a code block: total = price * count]"


def test_grade_follows_the_share(leaks: Callable[..., list[AuditFinding]]) -> None:
    (most,), (some,) = leaks("\n".join(FIX[:2])), leaks(FIX[3])
    assert (most.grade, most.share, most.severity) == (LeakGrade.MOST, 0.5, Severity.FAULT)
    assert (some.grade, some.share, some.severity) == (LeakGrade.SOME, 0.25, Severity.DOUBT)
    assert leaks("The total is wrong.") == []


def test_diff_in_the_hints_is_found(leaks: Callable[..., list[AuditFinding]]) -> None:
    (found,) = leaks(hints="Try this:\n\n```diff\n" + "\n".join(f"+{line}" for line in FIX) + "\n```")
    assert (found.kind, found.grade) == (AuditKind.SOLUTION_IN_HINTS, LeakGrade.EXACT)
    assert found.evidence[3] == "return round(total)  [in a diff: +    return round(total)]"


def test_code_within_a_sentence_is_found(leaks: Callable[..., list[AuditFinding]]) -> None:
    (found,) = leaks("I would say `total=price*count` instead.")
    assert found.evidence == ("total = price * count  [in the text: I would say `total=price*count` instead.]",)


def test_long_line_is_shown_around_the_match(leaks: Callable[..., list[AuditFinding]]) -> None:
    (found,) = leaks(hints=f"{'before ' * 60}return  round(total) {'after ' * 60}")
    assert "before return  round(total) after" in found.evidence[0]
    assert len(found.evidence[0]) < 200


def test_code_with_other_line_breaks_is_found(leaks: Callable[..., list[AuditFinding]]) -> None:
    assert leaks("    raise TooMuch(\n        total)")[0].share == 0.25


def test_part_of_a_longer_word_is_not_found(leaks: Callable[..., list[AuditFinding]]) -> None:
    assert leaks("subtotal = price * count") == []
    assert leaks("total = price * counts") == []


def test_existing_lines_are_no_solution(leaks: Callable[..., list[AuditFinding]]) -> None:
    gold = change(
        "shop.py", drops=["    return round(price * count)"], adds=["  return round(price * count)", *FIX[1:2]]
    )
    assert leaks("The line `return round(price * count)` is wrong.", gold=gold) == []
    shown = change("shop.py", keeps=["ready = check(shop)"], adds=["  ready = check(shop)"])
    assert leaks("ready = check(shop)", gold=shown) == []


def test_docstrings_and_tests_are_no_solution(leaks: Callable[..., list[AuditFinding]]) -> None:
    gold = (
        change("tests/test_shop.py", adds=FIX[:1])
        + change("README.md", adds=FIX[1:2])
        + change("shop.py", adds=FIX[3:])
    )
    assert leaks("\n".join(FIX[:3]), gold=gold) == []
    assert leaks(FIX[3], gold=gold)[0].share == 1


def test_stack_trace_is_not_searched(leaks: Callable[..., list[AuditFinding]]) -> None:
    trace = 'Traceback (most recent call last):\n  File "shop.py", line 3, in f\n    return round(total)\nTooMuch: 3'
    assert leaks(trace) == []


def test_hidden_comment_of_a_template_is_not_searched(leaks: Callable[..., list[AuditFinding]]) -> None:
    assert leaks(f"<!--\n{FIX[0]}\n-->\nIt is wrong.") == []


def test_patch_that_only_removes_lines_has_no_solution_lines(leaks: Callable[..., list[AuditFinding]]) -> None:
    assert leaks("- return price", gold=change("shop.py", drops=["    return price"])) == []


anything = st.text(st.characters(exclude_characters="<>\"'"))
"""Neither hidden comments nor frames of a stack trace."""


@given(anything, anything)
def test_line_is_found_in_any_text_around_it(before: str, after: str) -> None:
    (found,) = find_leaked(FIX[:1], f"{before}\n{FIX[0]}\n{after}")
    assert (found.gold, found.line) == (FIX[0], FIX[0].strip())


def test_link_to_a_change_of_the_same_repository_is_found(make_instance: Callable[..., Instance]) -> None:
    text = "see https://github.com/acme/calc/pull/12 and https://github.com/other/calc/pull/13"
    (found,) = solution_linked(subject(make_instance(problem_statement=text)))
    assert (found.severity, found.evidence) == (Severity.NOTE, ("github.com/acme/calc/pull/12",))
    assert not list(solution_linked(subject(make_instance(problem_statement="see #12"))))
