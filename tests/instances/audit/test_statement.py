import pytest

from assay.instances.audit.finding import AuditKind, Severity
from assay.instances.audit.statement import count_words, no_link_for_a_statement, reproduces, too_little
from assay.instances.audit.subject import subject
from toy import make_instance

LONG = "The total is not what a person expects it to be when several prices are added up. " * 6


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It fails:\n```\nadd(1, 2)\n```", True),
        ("It fails:\n>>> add(1, 2)\n-1", True),
        ("Description\n\t\n\tfrom calc import add\n\tadd(1, 2)", True),
        ("It fails:\n    total = add(1, 2)", True),
        ("It says Traceback (most recent call last): and so on", True),
        ("We see\n    at com.acme.Calc.add(Calc.java:3)", True),
        ("TypeError: unsupported operand", True),
        ("thread 'main' panicked at src/lib.rs:3", True),
        ("1. open the page\n2. press the button", True),
        ("### Steps to reproduce\nOpen the page and press the button", True),
        ("<div class='total'>3</div>", True),
        ("It prints nothing:\nstd::print(total->value());", True),
        ("SELECT price FROM shop", True),
        ("Adding two numbers gives their difference, which is wrong.", False),
        ("The function `add` of `calc` subtracts.", False),
        ("### Steps to reproduce\n### Expected behavior\n### Version", False),
        (LONG, False),
    ],
)
def test_code_errors_and_steps_are_reproductions(text: str, *, expected: bool) -> None:
    assert reproduces(text) is expected


PICTURE = "![screen](https://host.example/a.png)"
NOTHING = (AuditKind.NO_REPRODUCTION, Severity.NOTE)


@pytest.mark.parametrize(
    ("statement", "first", "number"),
    [
        ("Adding is wrong\n```\nadd(1, 2)\n```", None, 0),
        (LONG, NOTHING, 1),
        ("", (AuditKind.UNDERSPECIFIED, Severity.FAULT), 1),
        ("Wrong sum\n\nhttps://forum.example/t/12", (AuditKind.LINK_ONLY, Severity.FAULT), 3),
        ("Wrong sum\nsee [here](https://forum.example/t/12)", (AuditKind.LINK_ONLY, Severity.FAULT), 3),
        (f"Wrong sum\n\n{PICTURE}", (AuditKind.IMAGE_ONLY, Severity.FAULT), 3),
        (f"Wrong sum\n\nThe line is not where it belongs:\n{PICTURE}", (AuditKind.IMAGE_ONLY, Severity.DOUBT), 3),
        (f"Wrong sum\n{LONG}\n{PICTURE}", NOTHING, 1),
    ],
)
def test_what_a_statement_lacks_is_found(statement: str, first: tuple[AuditKind, Severity] | None, number: int) -> None:
    about = subject(make_instance(problem_statement=statement))
    found = [(each.kind, each.severity) for rule in (no_link_for_a_statement, too_little) for each in rule(about)]
    assert (next(iter(found), None), len(found)) == (first, number)


@pytest.mark.parametrize(
    ("statement", "extent"),
    [
        ("Adding is wrong", "one sentence"),
        ("Wrong sum\n\n### Description\nAdding is wrong.", "one sentence"),
        ("Wrong sum\nAdding is wrong. So is taking away.", "9 words"),
    ],
)
def test_a_short_statement_without_reproduction_is_underspecified(statement: str, extent: str) -> None:
    nothing, short = too_little(subject(make_instance(problem_statement=statement)))
    assert ((nothing.kind, nothing.severity), short.summary.partition(",")[0]) == (NOTHING, extent)
    assert (short.kind, short.severity) == (AuditKind.UNDERSPECIFIED, Severity.DOUBT)


def test_words_of_scripts_without_blanks_are_counted() -> None:
    assert count_words("two words https://host.example/more-of-them") == 2
    assert count_words("判断字符串是否为对象") == 5
