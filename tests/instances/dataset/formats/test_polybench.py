"""Rows of SWE-PolyBench: lists of labels as Python and numpy print them."""

import json

import pytest

from assay.harness.domain import DatasetRef
from assay.instances.dataset.formats import polybench
from samples import SAMPLES


@pytest.mark.parametrize(
    ("printed", "labels"),
    [
        ("['a.js->x', 'd']", ("a.js->x", "d")),
        ("['a.js->x y' 'd'\n \"c's\"]", ("a.js->x y", "d", "c's")),
        ("['e, f']", ("e, f",)),
        ("[]", ()),
    ],
)
def test_lists_without_commas_are_those_of_numpy(printed: str, labels: tuple[str, ...]) -> None:
    row = json.loads((SAMPLES / "polybench.jsonl").read_text().splitlines()[0])
    instance = polybench.to_instance(row | {"P2P": printed}, DatasetRef(name="x"))
    assert instance.pass_to_pass == labels
