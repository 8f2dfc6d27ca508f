"""Half and wrong rows of every dialect: each gives one message that names file, line, id and field, and what to do."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.harness.domain import Rule
from assay.harness.errors import DataError
from assay.instances.dataset.formats import FORMATS
from assay.instances.dataset.load import load
from samples import SAMPLES

RULES = ", ".join(repr(str(rule)) for rule in [*Rule][:-1]) + f" or {str([*Rule][-1])!r}"
CASES: list[dict[str, Any]] = yaml.safe_load((SAMPLES / "broken_rows.yaml").read_text())


def broken(case: dict[str, Any]) -> str:
    """Return the text of a sample file with one row changed."""
    rows = [json.loads(line) for line in (SAMPLES / f"{case['dialect']}.jsonl").read_text().splitlines()]
    for path, value in case.get("change", {}).items():
        place, last = column(rows[case["row"]], path)
        place[last] = value
    for path in case.get("drop", ()):
        place, last = column(rows[case["row"]], path)
        del place[last]
    return "".join(json.dumps(row) + "\n" for row in rows)


def column(row: dict[str, Any], path: str) -> tuple[dict[str, Any], str]:
    *outer, last = path.split(".")
    for part in outer:
        row = row[part]
    return row, last


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['dialect']}: {case['message'][:60]}")
def test_a_broken_row_gives_the_one_right_message(tmp_path: Path, case: dict[str, Any]) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(broken(case))
    message = f"{path}:{case['row'] + 1}: {case['message'].replace('<c>', 'c' * 40).replace('<rules>', RULES)}"
    loaded = load(str(path), skip_bad_rows=True)
    assert [str(problem) for problem in loaded.problems] == [message]
    assert len(loaded.instances) == 2
    with pytest.raises(DataError) as caught:
        load(str(path))
    assert str(caught.value) == message


def test_there_are_broken_rows_of_every_dialect() -> None:
    assert {case["dialect"] for case in CASES} == set(FORMATS)
    assert len({json.dumps(case) for case in CASES}) >= 30
