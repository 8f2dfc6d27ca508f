from pathlib import Path

import pytest

from histories import Repository, calc


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return calc(tmp_path / "acme__calc")
