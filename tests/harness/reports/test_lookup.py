import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.domain import Status
from assay.harness.reports import lookup, names_a_test

PASSED, FAILED = Status.PASSED, Status.FAILED
NOTHING = frozenset({Status.MISSING})

NAMES = st.text("ab[] /", min_size=1, max_size=6)
TESTS = st.dictionaries(NAMES, st.sampled_from([PASSED, FAILED, Status.SKIPPED]), max_size=8)


@given(TESTS, NAMES)
def test_exact_id_wins(tests: dict[str, Status], label: str) -> None:
    assert lookup(label, {**tests, label: Status.XFAIL}) == {Status.XFAIL}


@given(TESTS, NAMES)
def test_whole_label_never_matches_another_test(tests: dict[str, Status], label: str) -> None:
    if label not in tests and "[" not in label and label == " ".join(label.split()):
        assert lookup(label, tests) == NOTHING


@given(TESTS, NAMES)
def test_statuses_come_from_reported_tests_or_missing_stands_alone(tests: dict[str, Status], label: str) -> None:
    found = lookup(label, tests)
    assert found
    assert found == NOTHING or found <= set(tests.values())


def test_label_with_needless_blanks_names_the_test_without_them() -> None:
    assert lookup(" adds  all ", {"adds all": PASSED}) == {PASSED}
    assert lookup("adds ", {"adds ": FAILED, "adds": PASSED}) == {FAILED}
    assert lookup("adds", {"adds all": PASSED}) == NOTHING


def test_cut_label_stands_for_every_test_that_begins_so() -> None:
    tests = {"t.py::x[a b-1]": PASSED, "t.py::x[a c]": PASSED, "t.py::x[d e]": FAILED, "t.py::x[d f]": PASSED}
    assert lookup("t.py::x[a", tests) == {PASSED}
    assert lookup("t.py::x[a b-", tests) == {PASSED}
    assert lookup("t.py::x[d", tests) == {PASSED, FAILED}
    assert lookup("t.py::x[z", tests) == NOTHING
    assert lookup("t.py::x", tests) == NOTHING  # whole, and not reported


def test_repeated_parameter_has_its_number_as_either_version_of_pytest_spells_it() -> None:
    tests = {"t.py::x[12-120]": PASSED, "t.py::x[12-121]": FAILED, "t.py::x[a0]": PASSED, "t.py::x[30]": PASSED}
    assert [lookup(f"t.py::x[12-12_{end}]", tests) for end in "01"] == [{PASSED}, {FAILED}]
    assert {lookup(label, tests) for label in ("t.py::x[12-12_2]", "t.py::x[a_0]", "t.py::x[3_0]")} == {NOTHING}


def test_label_with_a_shortened_path_matches_the_file_in_any_folder() -> None:
    tests = {"t.py::x[/build/1/a.py-/build/1/mod.py]": PASSED, "t.py::y[/build/1/mod.py]": FAILED}
    assert lookup("t.py::x[/mod.py]", tests) == {PASSED}
    assert lookup("t.py::x[/od.py]", tests) == NOTHING


@pytest.mark.parametrize("label", ["[", "[100%]", "[100%]-----", "...", ""])
def test_progress_marks_name_no_test(label: str) -> None:
    assert not names_a_test(label)
    assert lookup(label, {"[a": PASSED}) == NOTHING


@pytest.mark.parametrize("label", ["test_x", "t.py::x[1]", "#24155 - Tests ordering of imports."])
def test_label_with_letters_names_a_test(label: str) -> None:
    assert names_a_test(label)
