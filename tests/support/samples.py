"""Sample rows of every data-set format, in tests/data/formats."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay.harness.domain import DatasetRef, Instance, PublishedImage
from assay.instances.dataset.formats import FORMATS
from assay.instances.environments.row_script import Script, read_script

DATASET = DatasetRef(name="d", revision="r")

SAMPLES = Path(__file__).parent.parent / "data/formats"

PLAIN = Instance(
    id="o__r-1",
    repo="o/r",
    base_commit="a" * 40,
    problem_statement="It breaks.",
    gold_patch="gold",
    test_patch="tests",
    fail_to_pass=("t.py::a[x, y]",),
    pass_to_pass=("t.py::b",),
    created_at=datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC),
    dataset=DATASET,
)

WHOLE = {
    "calc/ops.py": "def add(a, b):\n    total = a + b\n    return total\n\nKEPT = 1\n",
    "tests/test_ops.py": "from calc.ops import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n",
}
"""The tree that the image of FeatureBench's first sample holds."""


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SAMPLES / f"{name}.jsonl").read_text().splitlines()]


def read(name: str, number: int = 0, **changes: object) -> Instance:
    return FORMATS[name].to_instance(rows(name)[number] | changes, DATASET)


def get_image(instance: Instance) -> PublishedImage:
    assert isinstance(instance.environment, PublishedImage)
    return instance.environment


def script(instance: Instance) -> Script:
    return read_script(get_image(instance).eval_script)
