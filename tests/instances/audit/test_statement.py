from collections.abc import Callable

import pytest

from assay.harness.domain import Instance
from assay.instances.audit.finding import AuditKind, Severity
from assay.instances.audit.statement import count_words, no_link_for_a_statement, reproduces, too_little
from assay.instances.audit.subject import subject

LONG = "The total is not what a person expects it to be when several prices are added up. " * 6


@pytest.mark.parametrize(
    "text",
    [
        "It fails:\n```\nadd(1, 2)\n```",
        "It fails:\n>>> add(1, 2)\n-1",
        "Description\n\t\n\tfrom calc import add\n\tadd(1, 2)",
        "It fails:\n    total = add(1, 2)",
        "It says Traceback (most recent call last): and so on",
        "We see\n    at com.acme.Calc.add(Calc.java:3)",
        "TypeError: unsupported operand",
        "thread 'main' panicked at src/lib.rs:3",
        "1. open the page\n2. press the button",
        "### Steps to reproduce\nOpen the page and press the button",
        "<div class='total'>3</div>",
        "It prints nothing:\nstd::print(total->value());",
        "SELECT price FROM shop",
    ],
)
def test_code_errors_and_steps_are_reproductions(text: str) -> None:
    assert reproduces(text)


@pytest.mark.parametrize(
    "text",
    [
        "Adding two numbers gives their difference, which is wrong.",
        "The function `add` of `calc` subtracts.",
        "### Steps to reproduce\n### Expected behavior\n### Version",
        LONG,
    ],
)
def test_prose_and_empty_headings_are_no_reproductions(text: str) -> None:
    assert not reproduces(text)


@pytest.fixture
def found(make_instance: Callable[..., Instance]) -> Callable[[str], list[tuple[AuditKind, Severity]]]:
    def find(statement: str) -> list[tuple[AuditKind, Severity]]:
        about = subject(make_instance(problem_statement=statement))
        return [(each.kind, each.severity) for rule in (no_link_for_a_statement, too_little) for each in rule(about)]

    return find


def test_short_statement_without_reproduction_is_underspecified(
    found: Callable[[str], list[tuple[AuditKind, Severity]]],
) -> None:
    nothing = (AuditKind.NO_REPRODUCTION, Severity.NOTE)
    assert found("Adding is wrong") == [nothing, (AuditKind.UNDERSPECIFIED, Severity.DOUBT)]
    assert found(LONG) == [nothing]
    assert found("Adding is wrong\n```\nadd(1, 2)\n```") == []


def test_empty_statement_is_a_fault(found: Callable[[str], list[tuple[AuditKind, Severity]]]) -> None:
    assert found("") == [(AuditKind.UNDERSPECIFIED, Severity.FAULT)]


def test_single_sentence_is_reported(make_instance: Callable[..., Instance]) -> None:
    about = subject(make_instance(problem_statement="Wrong sum\n\n### Description\nAdding is wrong."))
    assert [each.summary.partition(",")[0] for each in too_little(about)][1] == "one sentence"
    about = subject(make_instance(problem_statement="Wrong sum\nAdding is wrong. So is taking away."))
    assert [each.summary.partition(",")[0] for each in too_little(about)][1] == "9 words"


def test_statement_of_links_or_pictures_is_found(found: Callable[[str], list[tuple[AuditKind, Severity]]]) -> None:
    assert found("Wrong sum\n\nhttps://forum.example/t/12")[0] == (AuditKind.LINK_ONLY, Severity.FAULT)
    assert found("Wrong sum\nsee [here](https://forum.example/t/12)")[0] == (AuditKind.LINK_ONLY, Severity.FAULT)
    assert found("Wrong sum\n\n![screen](https://host.example/a.png)")[0] == (AuditKind.IMAGE_ONLY, Severity.FAULT)
    few = "Wrong sum\n\nThe line is not where it belongs:\n![screen](https://host.example/a.png)"
    assert found(few)[0] == (AuditKind.IMAGE_ONLY, Severity.DOUBT)
    assert found(f"Wrong sum\n{LONG}\n![screen](https://host.example/a.png)") == [
        (AuditKind.NO_REPRODUCTION, Severity.NOTE)
    ]


def test_words_of_scripts_without_blanks_are_counted() -> None:
    assert count_words("two words https://host.example/more-of-them") == 2
    assert count_words("判断字符串是否为对象") == 5
