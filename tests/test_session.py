"""A run's folder has a name that says what was run, and that a later command can give."""

from pathlib import Path

import pytest

from assay.session import run_name


@pytest.mark.parametrize(
    ("dataset", "name"),
    [
        ("lite", "lite.gold"),
        ("rows/my rows.jsonl", "my_rows.gold"),
        ("princeton-nlp/SWE-bench_Lite", "SWE-bench_Lite.gold"),
        (".", "calc.gold"),
        ("..", "sets.gold"),
        ("tests/..", "calc.gold"),
        ("/", "dataset.gold"),
    ],
)
def test_a_run_is_named_after_its_data_set(
    dataset: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "sets" / "calc"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    assert run_name(dataset, "gold") == name
