import pytest

from assay.agents.solvers.agentless.variables import variable_lines
from assay.harness.languages.syntax import definitions

SHOP = """\
import limits

LIMIT = (
    10
)


class Shop:
    LIMIT = 3

    def price(self):
        local = LIMIT
        return local
"""


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("LIMIT", [(3, 5)]),
        ("Shop.LIMIT", [(9, 9)]),
        ("$LIMIT", [(3, 5)]),
        ("local", []),  # of a function
        ("limits", []),  # an import
        ("none", []),
    ],
)
def test_variable_lines_are_those_of_its_first_assignment_outside_of_functions(
    name: str, lines: list[tuple[int, int]]
) -> None:
    assert variable_lines(name, definitions("python", "a.py", SHOP), "python", "a.py", SHOP) == lines


def test_variable_of_a_file_in_no_language_has_no_lines() -> None:
    assert variable_lines("x", (), "python", "a.txt", "x = 1\n") == []
