from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.patchdiff.generators.suites.repeating import files_named, narrow

FILES = ("tests/test_a.py", "tests/admin/tests.py", "tests/admin_views/tests.py", "tests/forms/test_a.py")


@pytest.mark.parametrize(
    ("test", "files"),
    [
        ("tests/test_a.py::test", {"tests/test_a.py"}),
        ("test_x (admin.tests.Case)", {"tests/admin/tests.py"}),
        ("admin_views.tests.Case.test_x", {"tests/admin_views/tests.py"}),
        ("tests.forms.test_a.Case::test_x", {"tests/forms/test_a.py"}),
        ("forms.test_a.Case.test_x", {"tests/forms/test_a.py"}),
        ("test_a", set(FILES)),
        ("test_a_and_b", set(FILES)),
    ],
)
def test_which_file_a_test_name_points_to(test: str, files: set[str]) -> None:
    assert set(files_named(FILES, [test])) == files


def test_name_without_a_file_leaves_it_to_the_others() -> None:
    assert files_named(FILES, ["adds", "tests/test_a.py::test"]) == ("tests/test_a.py",)
    assert set(files_named(FILES, ["adds", "multiplies"])) == set(FILES)


@given(st.integers(1, 60), st.data())
def test_exactly_the_files_with_failing_tests_are_left(total: int, data: st.DataObject) -> None:
    files = [f"f{number}" for number in range(total)]
    guilty = data.draw(st.sets(st.sampled_from(files), min_size=1))
    runs: list[int] = []

    def failing(some: Sequence[str]) -> set[str]:
        runs.append(len(some))
        return guilty & set(some)

    assert sorted(narrow(files, guilty, failing)) == sorted(guilty)
    if len(guilty) == 1:
        assert sum(runs) <= 2 * total + len(runs), "it takes about two runs of all files"


@given(st.integers(2, 30), st.data())
def test_failure_that_needs_two_files_keeps_both(total: int, data: st.DataObject) -> None:
    files = [f"f{number}" for number in range(total)]
    pair = data.draw(st.sets(st.sampled_from(files), min_size=2, max_size=2))
    left = narrow(files, ["test"], lambda some: {"test"} if pair <= set(some) else set())
    assert pair <= set(left)
