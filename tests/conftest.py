"""Fixtures for all tests: small instances written here, and real containers where a test is marked so."""

import os
import signal
import ssl
import uuid
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

import toolchains
from assay.harness.domain import Instance
from installed import dist, python, user  # noqa: F401 - fixtures
from toolchains import make_toolchains
from toy import make_instance

if TYPE_CHECKING:
    from assay.harness.engines.docker import DockerEngine

EXAMPLES = int(os.environ.get("EXAMPLES", "100"))
"""Examples of a property test; the quick tests try fewer."""
settings.register_profile(
    "any machine", deadline=None, max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


def pytest_configure() -> None:
    """Take SIGINT back: a shell's background jobs ignore it, and so would every process that a test interrupts."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def instance() -> Instance:
    return make_instance()


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """Let fsync do nothing: processes of these tests are killed, but no machine loses power."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", lambda _file: None)
        patched.setattr(os, "sync", lambda: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _certificates_are_read_once() -> Iterator[None]:
    """Share what clients trust: each would read all certificates of the machine, and no test changes them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture(autouse=True)
def _signals_as_before() -> Iterator[None]:
    """Undo what a command line that ran in this process did to its signals: later processes would inherit that."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        if handler is not None:  # one that was not set from Python cannot be
            signal.signal(number, handler)


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a developer's ASSAY_* variables out of the tests, and the plugins here out of a pytest that one starts.

    Git's own variables, which a hook or ``git rebase --exec`` sets, would have tests change this repository.
    """
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("ASSAY_MIRROR", "ASSAY_RUNS_DIR", "ASSAY_JOBS", "ASSAY_ENGINE", "ASSAY_EXECUTOR", "ASSAY_TIMEOUT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("ASSAY_PRIVATE", "")  # set, so that what a test's assay.toml names is forgotten
    monkeypatch.setenv("ASSAY_TOOLCHAINS_ORDER", "bootstrap")  # the same images where a registry answers


@pytest.fixture(autouse=True)
def _own_blame(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test know what another has seen of the images of the same small instance."""
    folder = tmp_path_factory.getbasetemp() / "blame" / uuid.uuid4().hex
    monkeypatch.setattr("assay.harness.runs.blame.default_cache", lambda: folder)


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def docker_engine(request: pytest.FixtureRequest) -> "Iterator[DockerEngine]":
    """The engine, with the toolchain images that the selected tests are marked with."""
    from assay.harness.engines.docker import open_engine

    engine = open_engine()
    make_toolchains(engine, request.session.items)
    yield engine
    engine._client.close()


@pytest.fixture(scope="session")
def toolchain_image(docker_engine: "DockerEngine") -> str:
    """Name of a small Python image."""
    return toolchains.toolchain_image(docker_engine)
