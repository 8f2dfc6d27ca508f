"""The stage that all cases share: repositories and images are made once in a session."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from assay.harness.engines.docker import DockerEngine
from corpus.model import corpus
from corpus.stage import Place, make_mirror


@pytest.fixture(scope="session")
def corpus_mirror(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Folder of the projects' repositories, and the base commit of each language's project."""
    root = tmp_path_factory.mktemp("corpus-mirror")
    return root, {language: make_mirror(root, project) for language, project in corpus().projects.items()}


@pytest.fixture(scope="session")
def place(docker_engine: DockerEngine, corpus_mirror: tuple[Path, dict[str, str]]) -> Callable[[str, str], Place]:
    """Prepare an instance of a project: language and name to image and plan."""
    from assay.instances.environments.build import ImageBuilder
    from assay.instances.environments.plan import make_plan
    from assay.instances.environments.recipes import find_recipe
    from assay.instances.trees.sources import Sources

    root, commits = corpus_mirror
    builder = ImageBuilder(docker_engine, Sources([root]))

    @cache
    def prepare(language: str, name: str) -> Place:
        instance = corpus().projects[language].instance(name, commits[language])
        return Place(instance, builder.image_of(instance), make_plan(instance, find_recipe(instance)))

    return prepare
