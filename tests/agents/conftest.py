"""Containers for solvers' tests."""

from collections.abc import Callable

import pytest

from assay.agents.sampling.workspaces.agent_image import AgentImages
from assay.harness.engines.docker import DockerEngine
from corpus.conftest import corpus_mirror, place, places
from corpus.stage import Place
from leaky_image import LEAKS, NAME, World, with_layer

__all__ = ["corpus_mirror", "place", "places"]


@pytest.fixture(scope="session")
def world(
    docker_engine: DockerEngine, place: Callable[[str, str], Place], tmp_path_factory: pytest.TempPathFactory
) -> World:
    where = place("python", NAME)
    scratch = tmp_path_factory.mktemp("leaky")
    leaky = with_layer(docker_engine, scratch, where.image, LEAKS)
    images = AgentImages(docker_engine, scratch)
    return World(where, leaky, images.image(leaky, where.plan), docker_engine)
