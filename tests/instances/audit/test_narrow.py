import pytest

from assay.instances.audit.finding import AuditFinding, AuditKind, Severity
from assay.instances.audit.narrow import names_defined, names_only_in_gold, texts_only_in_gold
from assay.instances.audit.subject import subject
from changes import change
from tables import read_tables
from toy import make_instance

TABLES = read_tables(__file__)


def audit(gold: list[str], tests: list[str], statement: str = "Adding is wrong.", **more: str) -> list[AuditFinding]:
    about = make_instance(
        gold_patch=change(more.pop("path", "calc.py"), adds=gold),
        test_patch=change("tests/test_calc.py", adds=tests),
        problem_statement=statement,
        **more,
    )
    return [*names_only_in_gold(subject(about)), *texts_only_in_gold(subject(about))]


def test_import_of_a_name_only_in_gold_is_a_fault_and_a_use_a_doubt() -> None:
    (one,) = audit(["def add_exactly(a, b):"], ["from calc import add_exactly"])
    assert (one.kind, one.severity) == (AuditKind.NAME_ONLY_IN_GOLD, Severity.FAULT)
    assert one.evidence == ("add_exactly: def add_exactly(a, b):  [used: from calc import add_exactly]",)
    (one,) = audit(["    def add_exactly(self, b):"], ["    assert calc.add_exactly(1) == 2"])
    assert (one.kind, one.severity) == (AuditKind.NAME_ONLY_IN_GOLD, Severity.DOUBT)


@pytest.mark.parametrize(
    ("gold", "tests", "statement"),
    [
        (["def add_exactly(a, b):"], ["assert add_exactly(1, 2) == 3"], "There should be an `add_exactly`."),
        (["def add_exactly(a, b):"], ["assert add(1, 2) == 3"], "Adding is wrong."),
        (["def add_exactly(a, b):"], ["def add_exactly(a, b):", "    pass"], "Adding is wrong."),
        (["def add_exactly(a, b):"], ["# add_exactly is for later"], "Adding is wrong."),
        (["def add(a, b):"], ["from calc import add"], "Adding is wrong."),  # three letters meet by chance
        (["    def read(self):"], ["    assert calc.read() == 2"], "Adding is wrong."),  # may well be inherited
        (["    def __radd__(self, b):"], ["assert a.__radd__(b)"], "Adding is wrong."),
    ],
)
def test_mentioned_unused_or_common_name_is_not_narrow(gold: list[str], tests: list[str], statement: str) -> None:
    assert audit(gold, tests, statement) == []


def test_name_on_the_old_side_is_not_narrow() -> None:
    about = make_instance(
        gold_patch=change("calc.py", drops=["def add_exactly(a):"], adds=["def add_exactly(a, b):"]),
        test_patch=change("tests/test_calc.py", adds=["from calc import add_exactly"]),
    )
    assert not list(names_only_in_gold(subject(about)))


def test_message_only_in_gold_is_a_doubt() -> None:
    gold = ["    raise ValueError(f'the sum of {a} and {b} is too large')"]
    tests = ['with pytest.raises(ValueError, match="is too large$"):', '    assert "and 3 is too large" in str(error)']
    (one,) = audit(gold, tests)
    assert (one.kind, one.severity, one.evidence) == (AuditKind.TEXT_ONLY_IN_GOLD, Severity.DOUBT, ("is too large",))
    assert audit(gold, tests, "It should say that the sum is too large.") == []
    assert audit(gold, ["with pytest.raises(ValueError):"]) == []


@pytest.mark.parametrize(("language", "line", "name"), TABLES["names_that_a_line_of_every_language_defines"])
def test_names_that_a_line_of_every_language_defines(language: str, line: str, name: str | None) -> None:
    assert names_defined(line, language) == ((name,) if name else ())
