"""The stage that all cases share: repositories and images are made once in a session."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from assay.harness.domain import Instance, PublishedImage
from assay.harness.engines.docker import DockerEngine
from corpus.model import Row, corpus
from corpus.stage import Place, make_mirror
from lookalikes import END, START, build_lookalike, eval_script


@pytest.fixture(scope="session")
def corpus_mirror(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Folder of the projects' repositories, and the base commit of each language's project."""
    root = tmp_path_factory.mktemp("corpus-mirror")
    return root, {language: make_mirror(root, project) for language, project in corpus().projects.items()}


@pytest.fixture(scope="session")
def place(docker_engine: DockerEngine, corpus_mirror: tuple[Path, dict[str, str]]) -> Callable[[str, str], Place]:
    """Prepare an instance of a project: language and name to image and plan."""
    from assay.instances.environments.image_builder import ImageBuilder
    from assay.instances.environments.plan import make_plan
    from assay.instances.environments.recipes import find_recipe
    from assay.instances.trees.sources import Sources

    root, commits = corpus_mirror
    builder = ImageBuilder(docker_engine, Sources([root]))

    @cache
    def prepare(language: str, name: str) -> Place:
        instance = corpus().projects[language].instance(name, commits[language])
        return Place(instance, builder.build_image(instance), make_plan(instance, find_recipe(instance)))

    return prepare


@pytest.fixture(scope="session")
def published(
    docker_engine: DockerEngine, corpus_mirror: tuple[Path, dict[str, str]], place: Callable[[str, str], Place]
) -> Callable[[str, Row], Place]:
    """Prepare an instance of the Python project in a look-alike of a published image: name and row to image, plan."""
    from assay.instances.environments.image_builder import ImageBuilder
    from assay.instances.environments.plan import make_plan
    from assay.instances.environments.recipes import find_recipe
    from assay.instances.trees.sources import Sources

    root, commits = corpus_mirror
    builder = ImageBuilder(docker_engine, Sources([root]))

    def prepare(name: str, row: Row) -> Place:
        own = place("python", name)
        image = f"assay-test/lookalike:{own.image.rpartition(':')[2]}"
        if docker_engine.find_image(image) is None:
            build_lookalike(docker_engine, image, own.image, root / own.instance.repo, commits["python"])
        environment = PublishedImage(image=image, eval_script=script_of(own.instance, row))
        instance = own.instance.model_copy(update={"environment": environment})
        return Place(instance, builder.build_image(instance), make_plan(instance, find_recipe(instance)))

    return prepare


def script_of(instance: Instance, row: Row) -> str:
    """Return the script of a row."""
    script = eval_script(instance, row.tests, row.install, row.prepare)
    if not row.markers:
        script = script.replace(START, "").replace(END, "")
    return script.replace("\n", "\r\n") if row.dos else script
