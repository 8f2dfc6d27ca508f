"""An environment that is locked, removed and built again from the lock, in real containers and from the real index."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from asking import PROJECTS
from assay.harness.domain import Instance, Recipe
from assay.harness.engines.docker import DockerEngine
from assay.instances.environments.drift import LayerStatus
from assay.instances.environments.images_lock import Lock, read_lock
from assay.jobs.lock import check_images, is_as_locked, lock_instances, rebuild, select
from assay.jobs.workplace import Workplace
from rebuilt import build_twice, quiet
from toy import make_instance
from toys import Repository

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.xdist_group("build")]
PYPROJECT = """\
[build-system]
requires = ["setuptools>=64"]
build-backend = "setuptools.build_meta"

[project]
name = "calc"
version = "1.0"
dependencies = ["docopt"]

[tool.setuptools]
py-modules = ["calc"]
"""
REBUILT = ("go", "rust", "javascript", "java")
"""Languages whose projects are rebuilt; the one below in Python needs more than these."""


@pytest.fixture
def locked(docker_engine, toolchain_image, tmp_path: Path, monkeypatch) -> Iterator[tuple[Lock, Workplace]]:
    """A project that needs a package which exists as source only, locked."""
    repository = Repository(tmp_path / "mirrors/acme__locked")
    repository.folder.mkdir(parents=True)
    repository.git("init", "--quiet")
    (repository.folder / "pyproject.toml").write_text(PYPROJECT)
    (repository.folder / "calc.py").write_text("import docopt\n")
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    instance: Instance = make_instance(
        repo="acme/locked", base_commit=repository.commit(), environment=Recipe(system_packages=("sl",))
    )
    place = Workplace(mirrors=[repository.folder.parent], jobs=1)
    made = lock_instances([instance], place, quiet)
    assert not made.problems
    yield made.lock, place
    for layer in reversed(made.lock.chain(made.lock.instances[instance.id].image)):
        if layer.dockerfile:
            docker_engine.remove_image(layer.name)


def test_a_lock_rebuilds_the_same_environment_without_data_set_recipe_or_resolution(
    docker_engine, locked: tuple[Lock, Workplace], tmp_path: Path, monkeypatch
) -> None:
    lock, place = locked
    file = tmp_path / "images.lock"
    file.write_text(lock.model_dump_json())
    lock = read_lock(file)
    (instance,) = lock.instances.values()
    chain = [layer for layer in lock.chain(instance.image) if layer.dockerfile]
    environment = next(layer for layer in chain if layer.fetches)
    held = lock.get_texts(environment.contents)
    assert "\nsl " in held["debian"]
    assert held["locked/build-requirements.txt"].startswith("setuptools==")
    assert "--hash=sha256:" in held["locked/build-requirements.txt"]
    assert "docopt 0.6.2 sha256:" in held["packages"]
    assert is_as_locked(check_images(lock, docker_engine, 1, quiet))

    for layer in reversed(chain):
        docker_engine.remove_image(layer.name)
    missing = check_images(lock, docker_engine, 1, quiet)
    assert {state.image for state in missing if state.status is LayerStatus.MISSING} == {layer.name for layer in chain}

    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "other"))
    again = Workplace(mirrors=place.mirrors, jobs=1)
    assert rebuild(lock, again, quiet) == {"acme__calc-1": ""}
    states = check_images(lock, docker_engine, 1, quiet)
    assert [state.differences for state in states] == [()] * len(states)
    assert not (tmp_path / "other/locks").exists(), "something was resolved"


def test_an_image_that_was_tampered_with_differs(docker_engine, locked: tuple[Lock, Workplace], tmp_path: Path) -> None:
    lock, _ = locked
    (instance,) = lock.instances.values()
    (tmp_path / "context").mkdir()
    dockerfile = f"FROM {instance.image}\nRUN rm -rf /opt/venv/lib/python3*/site-packages/docopt-*.dist-info\n"
    (tmp_path / "context/Dockerfile").write_text(dockerfile)
    docker_engine.build(instance.image, tmp_path / "context", tmp_path / "log", secrets={}, labels={})

    states = check_images(select(lock, ["acme__calc-1"]), docker_engine, 1, quiet)
    (found,) = [state for state in states if state.image == instance.image]
    assert found.status is LayerStatus.DIFFERS
    assert found.differences[0].startswith("packages: docopt is missing, locked is 0.6.2 sha256:")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[PROJECTS[name].toolchain, pytest.mark.exhaustive]) for name in REBUILT]
)
def test_images_built_from_a_lock_give_the_same_results_and_nothing_is_resolved(
    name: str, docker_engine: DockerEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = PROJECTS[name]
    instance = project.instance(name, project.make_repository(tmp_path / "mirrors"))
    lock, before, after = build_twice(instance, docker_engine, tmp_path, monkeypatch)
    assert after == before
    assert [outcome == "resolved" for _, outcome, _ in before] == [False, True]
    assert {image for image, _, _ in before} == {used.image for used in lock.used}
    assert not (tmp_path / "other/locks").exists(), "something was resolved"
