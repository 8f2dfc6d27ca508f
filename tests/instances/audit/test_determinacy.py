from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from assay.instances.audit.determinacy import find_undetermined
from assay.instances.audit.finding import AuditFinding, AuditKind, Demand, DemandKind, Severity, StatedIn
from assay.instances.audit.subject import subject
from assay.instances.trees.search import SearchedTree, open_tree
from assay.instances.trees.sources import Sources
from changes import change
from toy import make_instance
from toys import Repository

MESSAGE = "    raise ValueError(f'the sum of {a} and {b} is too large')"
RAISES = ["def test_add():", '    with pytest.raises(ValueError, match="is too large$"):', "        add(1, 2)"]


def audit(gold: list[str], tests: list[str], statement: str = "Adding is wrong.", **more: object) -> list[AuditFinding]:
    tree = more.pop("tree", None)
    path, tested = str(more.pop("path", "calc.py")), str(more.pop("tested", "tests/test_calc.py"))
    about = make_instance(
        gold_patch=change(path, adds=gold, drops=more.pop("drops", ())),  # type: ignore[arg-type]
        test_patch=change(tested, adds=tests, drops=more.pop("tested_drops", ())),  # type: ignore[arg-type]
        problem_statement=statement,
        **more,
    )
    assert tree is None or isinstance(tree, SearchedTree)
    return list(find_undetermined(subject(about, tree)))


def read(found: Iterable[AuditFinding]) -> list[tuple[DemandKind, str, StatedIn]]:
    return [(each.kind, each.text, each.stated) for one in found for each in one.demands]


@pytest.fixture
def tree(repository: Repository, tmp_path: Path) -> SearchedTree:
    """A tree in which a document names ``add_twice``, and a source has a message."""
    (repository.folder / "docs.md").write_text("# Adding\n\nCall `add_twice` for more.\n")
    (repository.folder / "errors.py").write_text("LARGE = 'this number is too large'\n")
    instance = make_instance(repo="owner/name", base_commit=repository.commit())
    repository.git("clone", "--quiet", "--bare", str(repository.folder), str(tmp_path / "mirrors/owner__name"))
    found = open_tree(Sources([tmp_path / "mirrors"], tmp_path / "cache"), instance)
    assert found
    return found


def test_a_name_that_tests_import_is_a_fault_and_one_that_they_use_a_doubt_until_the_tree_is_searched(
    tree: SearchedTree,
) -> None:
    (one,) = audit(["def add_exactly(a, b):"], ["from calc import add_exactly"])
    assert (one.kind, one.severity) == (AuditKind.UNDETERMINED, Severity.FAULT)
    assert one.demands == (
        Demand(
            kind=DemandKind.NAME,
            text="add_exactly",
            asked="tests/test_calc.py:2",
            brought="def add_exactly(a, b):",
            stated=StatedIn.NOWHERE,
        ),
    )
    use = (["    def add_exactly(self, b):"], ["    assert calc.add_exactly(1) == 2"])
    found = audit(*use), audit(*use, tree=tree)
    assert [each.severity for (each,) in found] == [Severity.DOUBT, Severity.FAULT]


def test_a_name_that_the_tree_has_is_determined_with_the_place(tree: SearchedTree) -> None:
    (one,) = audit(["def add_twice(a):"], ["from calc import add_twice"], tree=tree)
    assert (one.kind, one.severity) == (AuditKind.DETERMINED, Severity.NOTE)
    (demand,) = one.demands
    assert (demand.stated, demand.file, demand.line) == (StatedIn.TREE, "docs.md", 3)
    assert demand.quote == "Call `add_twice` for more."


def test_what_the_issue_or_the_hints_say_is_determined_with_the_line() -> None:
    gold, tests = ["def add_exactly(a, b):"], ["assert add_exactly(1, 2) == 3"]
    (one,) = audit(gold, tests, "Adding is wrong.\nThere should be an `add_exactly`.")
    assert (one.kind, one.demands[0].stated, one.demands[0].line) == (AuditKind.DETERMINED, StatedIn.ISSUE, 2)
    assert read(audit(gold, tests, hints="call it add_exactly")) == [(DemandKind.NAME, "add_exactly", StatedIn.HINTS)]


@pytest.mark.parametrize(
    ("gold", "tests", "statement", "drops"),
    [
        (["def add_exactly(a, b):"], ["assert add_exactly(1, 2) == 3"], "We need to add exactly.", []),
        (["def add_exactly(a, b):"], ["assert add_exactly(1, 2) == 3"], "Make it public.", ["def _add_exactly():"]),
        (
            ["    raise E('No such number, see help')"],
            ["def test_add():", '    assert str(error) == "No such number, see help"'],
            "Say number.",
            ["    raise E('No such digit, see help')"],
        ),
    ],
)
def test_words_of_the_issue_or_of_old_code_in_another_spelling_are_a_convention(
    gold: list[str], tests: list[str], statement: str, drops: list[str]
) -> None:
    assert [stated for _, _, stated in read(audit(gold, tests, statement, drops=drops))] == [StatedIn.CONVENTION]


@pytest.mark.parametrize(
    ("gold", "tests"),
    [
        (["def add_exactly(a, b):"], ["assert add(1, 2) == 3"]),
        (["def add_exactly(a, b):"], ["def add_exactly(a, b):", "    pass"]),
        (["def add_exactly(a, b):"], ["# add_exactly is for later"]),
        (["def add(a, b):"], ["from calc import add"]),  # three letters meet by chance
        (["    def read(self):"], ["    assert calc.read() == 2"]),  # may well be inherited
        (["    def __radd__(self, b):"], ["assert a.__radd__(b)"]),
        (["total = 3"], ["total = add(1, 2)", "assert total == 3"]),
        (["    return 'E-101'"], ["assert show('id: E-101') == 'E-101'"]),  # it is given
        (["    return 'x'"], ["assert show() == 'x'"]),
        (["def test_add():"], ["check(test_add)"]),  # the name of a test
    ],
)
def test_what_tests_do_not_ask_for_is_no_demand(gold: list[str], tests: list[str]) -> None:
    assert audit(gold, tests) == []


def test_a_name_on_the_old_side_is_known() -> None:
    assert audit(["def add_exactly(a, b):"], ["add_exactly(1)"], drops=["def add_exactly(a):"]) == []


def test_a_message_is_searched_between_its_placeholders(tree: SearchedTree) -> None:
    (one,) = audit([MESSAGE], RAISES)
    assert (one.severity, read([one])) == (
        Severity.DOUBT,
        [(DemandKind.MESSAGE, "is too large", StatedIn.NOWHERE)],
    )
    assert read(audit([MESSAGE], RAISES, "Say that the sum is too large."))[0][2] is StatedIn.ISSUE
    assert read(audit([MESSAGE], RAISES, tree=tree))[0][2] is StatedIn.TREE
    assert audit([MESSAGE], ["with pytest.raises(ValueError):"]) == []


TABLE = [
    "@pytest.mark.parametrize('given, expected', [(1, 'E-101'), (2, 'E-102')])",
    "def test_show(given, expected):",
    "    assert show(given) == expected",
]
JAVASCRIPT = ["it('shows', () => {", "  expect(show(1)).toBe('E-101');", "});"]
GO_TABLE = [
    "func TestShow(t *testing.T) {",
    '\ttests := []struct{ name, want string }{{name: "one", want: "E-101"}}',
    "\tfor _, tt := range tests {",
    "\t\tassert.Equal(t, tt.want, show(tt.name))",
    "\t}",
    "}",
]


@pytest.mark.parametrize(
    ("language", "tested", "tests", "gold"),
    [
        ("python", "tests/test_calc.py", TABLE, "    return 'E-101'"),
        ("go", "calc_test.go", GO_TABLE, '\treturn "E-101"'),
        ("javascript", "calc.test.js", JAVASCRIPT, "x = 'E-101';"),
    ],
)
def test_a_constant_counts_where_an_assertion_expects_it(
    language: str, tested: str, tests: list[str], gold: str, tree: SearchedTree
) -> None:
    path = {"python": "calc.py", "go": "calc.go", "javascript": "calc.js"}[language]
    (one,) = audit([gold], tests, language=language, path=path, tested=tested, tree=tree)
    assert (one.severity, read([one])) == (Severity.FAULT, [(DemandKind.CONSTANT, "E-101", StatedIn.NOWHERE)])


def test_a_message_that_no_assertion_expects_is_only_a_doubt(tree: SearchedTree) -> None:
    (one,) = audit(["    print('see the manual')"], ["run('see the manual')"], tree=tree)
    assert (one.severity, one.demands[0].asserted) == (Severity.DOUBT, False)


def test_a_file_of_the_gold_patch_that_tests_name_is_a_demand(tree: SearchedTree) -> None:
    asks = ['assert load("./data/odd_size.yml").size']
    assert audit(["size: 3"], asks, path="data/odd_size.yml", tree=tree) == []  # it was there
    about = make_instance(
        gold_patch="diff --git a/data/odd_size.yml b/data/odd_size.yml\nnew file mode 100644\n--- /dev/null\n"
        "+++ b/data/odd_size.yml\n@@ -0,0 +1 @@\n+size: 3\n",
        test_patch=change("tests/test_calc.py", adds=asks),
    )
    (one,) = find_undetermined(subject(about, tree))
    assert (one.severity, read([one])) == (Severity.FAULT, [(DemandKind.NAME, "odd_size.yml", StatedIn.NOWHERE)])


def test_another_parameter_is_a_demand_where_the_tests_change_their_calls(tree: SearchedTree) -> None:
    gold, tests = ["def add_all(numbers, limit):"], ["assert add_all([1], 3) == 1"]
    changes: dict[str, Any] = {"drops": ["def add_all(numbers):"], "tested_drops": ["assert add_all([1]) == 1"]}
    (one,) = audit(gold, tests, **changes, tree=tree)
    assert read([one]) == [(DemandKind.SIGNATURE, "add_all(limit)", StatedIn.NOWHERE)]
    assert one.severity is Severity.FAULT
    assert read(audit(gold, tests, "There should be a limit.", **changes))[0][2] is StatedIn.ISSUE
