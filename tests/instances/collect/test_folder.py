from datetime import date
from pathlib import Path

import pytest

from assay.harness.errors import DataError, UserError
from assay.instances.collect.folder import CollectionFolder, CollectionSettings
from assay.instances.collect.steps import Filtered, Phase

SETTINGS = CollectionSettings(repos=("acme/calc",), since=date(2024, 1, 1))


@pytest.fixture
def folder(tmp_path: Path) -> CollectionFolder:
    found = CollectionFolder(tmp_path / "mine")
    found.open(SETTINGS)
    return found


def test_a_collection_is_continued_with_the_same_settings_alone(folder: CollectionFolder) -> None:
    folder.open(SETTINGS)
    assert folder.settings() == SETTINGS
    with pytest.raises(UserError, match=r"is a collection of acme/calc from 2024-01-01 to today; give the same"):
        folder.open(SETTINGS.model_copy(update={"since": None}))


def test_damaged_settings_are_an_error(folder: CollectionFolder) -> None:
    (folder.root / "collection.json").write_text("{")
    with pytest.raises(DataError, match="is damaged"):
        folder.settings()


def test_the_last_line_of_a_candidate_counts_and_a_torn_one_does_not(folder: CollectionFolder) -> None:
    folder.add(Phase.FILTER, Filtered(id="one", rule="size", reason="large"))
    folder.add(Phase.FILTER, Filtered(id="two", license="MIT"))
    folder.add(Phase.FILTER, Filtered(id="one", license="MIT"))
    with (folder.root / "filter.jsonl").open("a") as file:
        file.write('{"id": "three", "rul')
    assert folder.read(Phase.FILTER, Filtered) == [Filtered(id="one", license="MIT"), Filtered(id="two", license="MIT")]
    folder.add(Phase.FILTER, Filtered(id="four"))
    assert [each.id for each in folder.steps(Phase.FILTER)] == ["one", "two", "four"]


def test_a_phase_that_is_written_replaces_its_lines(folder: CollectionFolder) -> None:
    assert not folder.has(Phase.FILTER)
    folder.add(Phase.FILTER, Filtered(id="one"))
    folder.write(Phase.FILTER, [Filtered(id="two")])
    assert folder.has(Phase.FILTER)
    assert [each.id for each in folder.steps(Phase.FILTER)] == ["two"]
