"""The instances of a run against those of its data set: what a signer could change to be graded more kindly."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.harness.bundles.dataset_rows import check_rows
from assay.harness.domain import UNKNOWN_TIME, Asset, Instance, Prediction, PublishedImage, Recipe, RowScript
from assay.harness.runs.store import RunStore
from sealed import SealedRun, toy

IMAGE = PublishedImage(image="acme/calc:1", eval_script="pytest")


@pytest.fixture
def differences(tmp_path: Path) -> Callable[[Instance, Instance], list[str]]:
    """Return what is found on an evaluated instance, given its data set's row."""

    class Store(RunStore):
        def load_predictions(self) -> tuple[Prediction, ...]:
            return (Prediction(instance_id="acme__calc-1"),)

        def load_instance(self, _instance_id: str) -> Instance:
            return self.instance

        instance: Instance

    def found(instance: Instance, row: Instance) -> list[str]:
        store = Store(tmp_path)
        store.instance = instance
        return [each.what for each in check_rows(store, [row])]

    return found


def test_the_rows_that_were_evaluated_are_the_data_sets(sealed: SealedRun) -> None:
    assert list(check_rows(sealed.store, [toy(number) for number in (1, 2, 3, 4)])) == []


def test_an_instance_that_the_data_set_has_not_is_named(sealed: SealedRun) -> None:
    (problem,) = check_rows(sealed.store, [toy(1), toy(3)])
    assert problem.file == "runs/mine/instances/acme__calc-2/instance.json"
    assert problem.what == "the data set has no such instance"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("test_patch", "another"),
        ("gold_patch", "another"),
        ("base_commit", "1" * 40),
        ("problem_statement", "easier"),
        ("repo", "acme/other"),
        ("rule", "swe-smith"),
        ("test_id", "other"),
        ("language", "go"),
        ("fail_to_pass", ()),
        ("pass_to_pass", ()),
        ("created_at", "2024-01-01T00:00:00Z"),
        ("environment", Recipe(test_command="true")),
        ("environment", IMAGE),
        ("environment", RowScript(eval_script="true")),
        ("assets", (Asset(path="a.png", url="file:///a.png"),)),
    ],
)
def test_a_field_that_was_changed_is_named(field: str, value: Any, differences: Callable) -> None:
    changed = Instance.model_validate({**toy(1).model_dump(), field: value})
    (what,) = differences(changed, toy(1))
    assert what.startswith(field)


@pytest.mark.parametrize(("script", "found"), [("pytest", []), ("true", ["environment is not the data set's"])])
def test_a_rows_script_may_have_run_without_its_image(script: str, found: list[str], differences: Callable) -> None:
    row = toy(1).model_copy(update={"environment": IMAGE})
    ran = row.model_copy(update={"environment": RowScript(eval_script=script, scripts={"test": "jest"})})
    assert differences(ran, row) == found


def test_quarantined_tests_may_be_missing_and_no_others(differences: Callable) -> None:
    row = toy(1)
    left_out = row.model_copy(update={"pass_to_pass": (), "quarantined": row.pass_to_pass})
    assert differences(left_out, row) == []
    assert differences(row, left_out) == []
    assert differences(left_out.model_copy(update={"fail_to_pass": ()}), row)


def test_what_a_machine_decides_is_no_difference(differences: Callable) -> None:
    here = (Asset(path="a", url="file:///here/a"),)
    row = toy(1).model_copy(update={"created_at": UNKNOWN_TIME, "environment": IMAGE, "assets": here})
    assert differences(toy(1).model_copy(update={"assets": (Asset(path="a", url="file:///there/a"),)}), row) == []
    assert differences(row, row) == []
