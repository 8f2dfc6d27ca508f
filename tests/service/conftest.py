"""A service of three instances."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from assay import Instance
from assay.harness import engines
from assay.harness.engines.fake import FakeEngine
from assay.service import probes
from lying import NAMES, Liar
from served import Served, served
from toy import make_instance, make_instances

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


@pytest.fixture
def liar(monkeypatch: pytest.MonkeyPatch) -> Liar:
    found = Liar(FakeEngine({}), ())
    monkeypatch.setitem(engines.ENGINES.parts, "fake", lambda: found)
    monkeypatch.setattr(probes, "PAUSE", 0.05)
    return found


@pytest.fixture
def serve_lying(tmp_path: Path, liar: Liar) -> Iterator[Serve]:
    # Each has a test of its own, so that an exchanged image shows.
    instances = [
        make_instance(id=name, fail_to_pass=(f"tests/test_{number}.py::test_add",)) for number, name in enumerate(NAMES)
    ]
    with ExitStack() as stack:

        def start(**options: Any) -> Served:
            return stack.enter_context(served(instances, tmp_path / "verdicts", jobs=1, **options))

        yield start
