import ast

from assay.harness.patchdiff.probe import mutate, scope

TEXT = '''\
def test_it():
    """Not this."""
    first = make(3)
    act(first)
    assert first == 4
'''


def test_expected_values_and_docstrings_are_closed_and_statements_have_roles() -> None:
    found = scope.make_scope(mutate.parse_function(TEXT), TEXT)
    lines = TEXT.splitlines()
    assert found.is_closed((2, 4))
    assert found.is_closed((5, lines[4].index("4")))
    assert not found.is_closed((3, lines[2].index("3")))

    assert [mutate.find_role(found, line)[1] for line in (3, 4, 5)] == ["leading", "action", "assertion"]


def test_exception_checks_are_recognised() -> None:
    assert scope.is_raises(ast.parse("pytest.raises(ValueError)", mode="eval").body)
    assert not scope.is_raises(ast.parse("raises", mode="eval").body)
