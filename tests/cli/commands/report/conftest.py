from collections.abc import Callable
from pathlib import Path

import pytest

from assay.harness.domain import Instance
from toy import GOLD


@pytest.fixture
def run(assay: Callable, rows: Path) -> Path:
    assay("evaluate", "rows.jsonl", "--gold")
    return Path("runs/rows.gold")


@pytest.fixture
def runs(assay: Callable, rows: Path, predictions: Callable, instance: Instance) -> None:
    """Two runs: ``gold`` resolves all, ``mine`` the first of two that it has a patch for."""
    assay("evaluate", "rows.jsonl", "--gold", "--run-id", "gold")
    predictions({"acme__calc-1": instance.gold_patch, "acme__calc-2": ""})
    assert assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "mine").code == 0


@pytest.fixture
def mine(assay: Callable, rows: Path, predictions: Callable) -> Path:
    """A model's run: resolves the first of two."""
    predictions({"acme__calc-1": GOLD, "acme__calc-2": GOLD.replace("b\n", "c\n")})
    assert assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "mine").code == 0
    return Path("runs/mine")
