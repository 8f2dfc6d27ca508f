"""The stage that all cases share: repositories and images are made once in a session."""

from collections.abc import Callable
from pathlib import Path

import pytest

from assay.harness.engines.docker import DockerEngine
from corpus.model import Row
from corpus.places import Places, make_mirrors
from corpus.stage import Place


@pytest.fixture(scope="session")
def corpus_mirror(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Folder of the projects' repositories, and the base commit of each language's project."""
    root = tmp_path_factory.mktemp("corpus-mirror")
    return root, make_mirrors(root)


@pytest.fixture(scope="session")
def places(docker_engine: DockerEngine, corpus_mirror: tuple[Path, dict[str, str]]) -> Places:
    return Places(docker_engine, *corpus_mirror)


@pytest.fixture(scope="session")
def place(places: Places) -> Callable[[str, str], Place]:
    """Prepare an instance of a project: language and name to image and plan."""
    return places.prepare


@pytest.fixture(scope="session")
def published(places: Places) -> Callable[[str, Row], Place]:
    """Prepare an instance of the Python project in a look-alike of a published image: name and row to image, plan."""
    return places.prepare_published
