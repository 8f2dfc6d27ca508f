"""A service of three instances."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from assay import Instance
from served import Served, served
from toy import make_instances

Serve = Callable[..., Served]


@pytest.fixture
def instances() -> list[Instance]:
    return make_instances((1, 2, 3))


@pytest.fixture
def serve(instances: list[Instance], tmp_path: Path) -> Iterator[Serve]:
    with ExitStack() as stack:

        def start(**options: Any) -> Served:
            return stack.enter_context(served(instances, tmp_path / "verdicts", **options))

        yield start
