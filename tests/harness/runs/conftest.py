from pathlib import Path

import pytest

from assay.harness.runs.store import RunStore
from parts_of_runs import MIXED, in_shards, pairs_of


@pytest.fixture
def parts(tmp_path: Path) -> list[RunStore]:
    return in_shards(tmp_path, pairs_of(MIXED), 6, 3)
