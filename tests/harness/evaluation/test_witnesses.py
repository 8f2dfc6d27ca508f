import pytest

from assay.harness.domain import Status, TestPlan
from assay.harness.evaluation.witnesses import expect_at_places, read_witnesses
from assay.harness.runners import Tripwires
from assay.harness.runners.base import PLACE

PLAN = TestPlan(command="", report_path="r", report_format="status_json", log_format="cargo_text", runner="cargo")
KIT = Tripwires(files={}, expected={f"good_{PLACE}": Status.PASSED, f"bad_{PLACE}": Status.FAILED})


def test_every_place_has_names_of_its_own() -> None:
    assert expect_at_places(KIT, b"1\n2?\n") == {
        "1": {"good_1": Status.PASSED, "bad_1": Status.FAILED},
        "2?": {"good_2": Status.PASSED, "bad_2": Status.FAILED},
    }
    assert expect_at_places(KIT, b"") == expect_at_places(None, b"") == {}


@pytest.mark.parametrize(
    ("report", "output", "places"),
    [
        (b'{"good_1": "passed", "bad_1": "failed"}', b"", {"1"}),
        (b'{"good_1": "passed", "bad_1": "failed", "good_2": "passed"}', b"", {"1", "2"}),
        (b'{"good_1": "passed", "bad_1": "failed"}', b"test bad_2 ... FAILED\n", {"1", "2"}),
        (b"{}", b"", {"1"}),
    ],
)
def test_unsure_place_counts_once_one_of_its_tripwires_is_seen(report: bytes, output: bytes, places: set[str]) -> None:
    _, seen = read_witnesses(PLAN, {"r": report}, output, expect_at_places(KIT, b"1\n2?\n"))
    assert {name.rpartition("_")[2] for name in seen} == places
    assert len(seen) == 2 * len(places)


def test_tripwire_in_the_file_of_a_copy_is_a_tripwire() -> None:
    report = (
        b'{"calc_copy::good_1": "passed", "bad_1": "failed", "calc_copy::sum_copy": "failed", "calc::sum": "passed"}'
    )
    placed, words = expect_at_places(KIT, b"1\n"), ("calc_copy", "sum_copy")
    found, seen = read_witnesses(PLAN, {"r": report}, b"", placed, left_out=words)
    assert found.tests == {"calc::sum": Status.PASSED}
    assert {name: each.reported for name, each in seen.items()} == placed["1"]


@pytest.mark.parametrize("place", ["{test} (module.{case})", "{test} (module.{case}.{test})"], ids=["3.10", "3.11"])
def test_tripwire_of_a_class_that_is_a_tripwire_too_counts_for_itself(place: str) -> None:
    """unittest names a test and its class; a class whose tearDownClass fails is expected to fail, its test to pass."""
    plan = TestPlan(command="", log_format="unittest_text", runner="unittest")
    kit = Tripwires(files={}, expected={"test_sum": Status.PASSED, "SumTests": Status.FAILED})
    test = place.format(test="test_sum", case="SumTests")
    output = f"{test} ... ok\nERROR\n\n{'=' * 70}\nERROR: tearDownClass (module.SumTests)\n".encode()
    _, seen = read_witnesses(plan, {}, output, expect_at_places(kit, b"1\n"))
    assert seen["test_sum"].reported is Status.PASSED
    assert seen["SumTests"].reported is Status.ERROR
