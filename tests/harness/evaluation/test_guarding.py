import pytest

from assay.harness.domain import Instance, TestPlan
from assay.harness.evaluation.guarding import FLOODED, LISTED_BYTES, Guarded, choose_guarded, find_rewritten

PLAN = TestPlan(command="true", restore=("tests/test_calc.py",))


def test_tests_and_what_steers_them_are_compared(instance: Instance) -> None:
    tests, data = ("tests/test_calc.py", "tests/util.py"), "tests/data/large.bin"
    tree = ("calc.py", "conftest.py", "pkg/core.py", "pkg/test_core.py", *tests, data, "docs/a.py", "poetry.lock")
    found = choose_guarded(instance, PLAN, tree, ["test_trip.py"])
    trip = ("test_trip.py", "pkg/test_trip.py", "tests/test_trip.py")
    cache = "tests/__pycache__"
    assert set(found.files) == {"conftest.py", "pkg/test_core.py", *tests, *trip, cache}
    assert (found.data, found.caches, found.watched) == ((data,), (cache,), ("", "pkg", "tests"))


def test_what_a_test_patch_touches_is_compared_whatever_it_is(instance: Instance) -> None:
    plan = PLAN.model_copy(update={"restore": ("tests/test_calc.py", "docs/sums.txt")})
    assert "docs/sums.txt" in choose_guarded(instance, plan, ()).files
    other = instance.model_copy(update={"language": "cobol"})
    assert choose_guarded(other, PLAN, ("a.cob", "tests/b.cob")).files == ("tests/test_calc.py",)


def test_a_comparisons_own_tests_may_be_written(instance: Instance) -> None:
    assert choose_guarded(instance, PLAN.model_copy(update={"guarded": False}), ("tests/a.py",)) == Guarded()


def test_data_that_was_only_touched_is_not_rewritten(instance: Instance) -> None:
    """Its size and content are as before; sources of tests may not even be touched."""
    changed = b"1.5-3 ./tests/a.html\x001.7-3 ./tests/a.html\x001.5-3 ./tests/b.html\x001.6-4 ./tests/b.html\0"
    changed += b"1.5 ./tests/test_calc.py\x001.6 ./tests/test_calc.py\0"
    same = {"tests/a.html", "tests/test_calc.py"}
    assert find_rewritten(instance, changed, same.__contains__) == ("tests/b.html", "tests/test_calc.py")


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        (b"", ()),
        (b"1.5 ./tests/test_calc.py\x001.6 ./tests/test_calc.py\0", ("tests/test_calc.py",)),
        (b"0 ./tests/out.txt\x000 ./tests/test_new.py\0", ()),
        (b"0 ./tests/conftest.py\0", ("tests/conftest.py",)),
        (b"0 ./a\0" * (LISTED_BYTES // 6 + 1), (FLOODED,)),
    ],
)
def test_changes_of_guarded_files_and_new_steering_files_are_found(
    instance: Instance, changed: bytes, found: tuple[str, ...]
) -> None:
    assert find_rewritten(instance, changed) == found
