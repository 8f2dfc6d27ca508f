import pytest

from assay.harness.patchdiff.generators.suites.repeating import files_named

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
def test_which_file_a_test_name_tells(test: str, files: set[str]) -> None:
    assert set(files_named(FILES, [test])) == files


def test_name_without_a_file_leaves_it_to_the_others() -> None:
    assert files_named(FILES, ["adds", "tests/test_a.py::test"]) == ("tests/test_a.py",)
    assert set(files_named(FILES, ["adds", "multiplies"])) == set(FILES)
