"""Images that leave this engine and give the same verdicts on another one, which reaches nothing else."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay.harness.domain import Service
from assay.harness.engines.docker_build import find_builder
from assay.instances.dataset.formats import native
from languages.hello import hellos
from second_engine import SecondEngine, registry, second_engine

if TYPE_CHECKING:
    from assay.harness.engines.docker import DockerEngine

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.xdist_group("shipping")]

SERVICE = Service(name="web", command="python3 -m http.server 8000", port=8000)
"""An instance with a service needs two images."""


@dataclass(frozen=True)
class World:
    """A data set with its images on this machine's engine, and what its evaluations said."""

    folder: Path
    verdicts: dict[str, Any]

    def assay(self, *args: str, **variables: str) -> dict[str, Any]:
        """Run a command on this machine's engine and return its JSON."""
        env = {**os.environ, "ASSAY_CACHE": str(self.folder / "cache"), **variables}
        command = [sys.executable, "-m", "assay", *args, "--json"]
        done = subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found


def verdicts_of(runs: Path) -> dict[str, Any]:
    """Return every verdict below a folder of runs, test by test, by run and instance."""
    found = {}
    for file in sorted(runs.glob("*/verdicts/*.json")) or sorted(runs.glob("*/*/*/verdict.json")):
        verdict = json.loads(file.read_text()).get("verdict") or json.loads(file.read_text())
        found[str(file.relative_to(runs))] = {
            key: verdict[key] for key in ("instance_id", "outcome", "unfixed", "broken", "flags")
        }
    return found


@pytest.fixture(scope="module")
def world(docker_engine: "DockerEngine", tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("world")
    hello = dict(hellos())["python-pytest"]
    instance = hello.instance("shipped", hello.make_repository(folder / "mirrors"))
    recipe = instance.environment.model_copy(update={"services": (SERVICE,)})  # type: ignore[union-attr]
    row = native.from_instance(instance.model_copy(update={"environment": recipe}))
    (folder / "rows.jsonl").write_text(f"{json.dumps(row)}\n")
    here = World(folder, {})
    built = here.assay("images", "build", "rows.jsonl", "--mirror", "mirrors")
    for control in ("--gold", "--null"):
        here.assay("evaluate", "rows.jsonl", control, "--mirror", "mirrors", "--runs-dir", "runs")
    yield World(folder, verdicts_of(folder / "runs"))
    for name in reversed(built["built"]):
        docker_engine.remove_image(name)


@dataclass(frozen=True)
class Archive:
    """The images as a file, and what the export has said of them."""

    file: Path
    said: dict[str, Any]


@pytest.fixture(scope="module")
def archive(world: World) -> Archive:
    fresh = {"ASSAY_CACHE": str(world.folder / "fresh")}  # which has seen no evaluation
    output = world.folder / "rows.oci.tar"
    said = world.assay("images", "export", "rows.jsonl", "-o", str(output), "--mirror", "mirrors", **fresh)
    return Archive(output, said)


@pytest.fixture(scope="module")
def port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        found: int = one.getsockname()[1]
        return found


@pytest.fixture(scope="module")
def other(port: int) -> Iterator[SecondEngine]:
    folder = Path(tempfile.mkdtemp(prefix="assay2-"))
    with ExitStack() as undo:
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        yield undo.enter_context(second_engine(folder, port))


@pytest.fixture
def there(world: World, other: SecondEngine, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Run ``assay`` on the second engine: with the data set and an empty cache, and with no mirrors."""
    shutil.copy(world.folder / "rows.jsonl", tmp_path)

    def run(*args: str, code: int = 0) -> dict[str, Any]:
        command = [sys.executable, "-m", "assay", *args, "--json"]
        done = other.run(command, tmp_path, ASSAY_CACHE=str(tmp_path / "cache"))
        assert done.returncode == code, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return run


def test_an_archive_gives_an_empty_engine_the_same_verdicts_without_a_network(world, archive, there, tmp_path):
    shutil.copy(archive.file, tmp_path)
    exported = archive.said
    assert there("images", "list")["images"] == []

    imported = there("images", "import", "rows.oci.tar")
    assert imported["moved"] == exported["images"]
    for control in ("--gold", "--null"):
        there("evaluate", "rows.jsonl", control, "--runs-dir", "runs")
    assert verdicts_of(tmp_path / "runs") == world.verdicts
    assert {each["outcome"] for each in world.verdicts.values()} == {"resolved", "unresolved"}

    again = there("images", "import", "rows.oci.tar")
    assert (again["moved"], again["images"]) == ([], exported["images"])
    there("images", "prune", "--all")
    assert there("images", "list")["images"] == []


@pytest.mark.exhaustive
def test_what_builds_left_goes_with_the_images(archive, there, other, tmp_path):
    shutil.copy(archive.file, tmp_path)
    base = there("images", "import", "rows.oci.tar")["images"][0]
    folder = tmp_path / "context"
    folder.mkdir()
    made = f"FROM {base} AS work\nRUN head -c 3000000 /dev/urandom > /half\nFROM {base}\nCOPY --from=work /half /\n"
    (folder / "Dockerfile").write_text(made)
    program = find_builder().program
    if not program:
        pytest.skip("the plain builder keeps no cache")
    build = [program, "build", "--tag=assay/test:1", "--label=assay.kind=instance", "."]
    assert other.run(build, folder, DOCKER_BUILDKIT="1").returncode == 0

    def kept() -> str:
        return other.run([program, "system", "df", "--format", "{{.Type}} {{.Reclaimable}}"], tmp_path).stdout

    assert "MB" in kept().partition("Build Cache")[2]
    there("images", "prune", "--all")
    assert there("images", "list")["images"] == []
    assert "MB" not in kept()


def test_a_damaged_archive_changes_nothing(archive, other, tmp_path):
    whole = bytearray(archive.file.read_bytes())
    whole[len(whole) // 2] ^= 1
    (tmp_path / "rows.oci.tar").write_bytes(whole)

    command = [sys.executable, "-m", "assay", "images", "import", "rows.oci.tar"]
    done = other.run(command, tmp_path, ASSAY_CACHE=str(tmp_path / "cache"))

    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("assay: rows.oci.tar: ")
    assert done.stderr.splitlines()[-1].endswith("; copy or export it again")
    assert "assay/" not in other.run(["docker", "image", "ls"], tmp_path).stdout


def test_a_registry_gives_another_engine_the_same_verdicts(world, there, other, port, tmp_path):
    with registry(tmp_path, f"127.0.0.1:{port}"), registry(tmp_path, f"{other.host}:{port}"):
        pushed = world.assay("images", "push", "rows.jsonl", "--registry", f"127.0.0.1:{port}/team")
        place = f"{other.host}:{port}/team"

        pulled = there("images", "pull", "rows.jsonl", "--registry", place)
        assert set(pulled["moved"]) <= set(pushed["images"])
        assert pulled["images"] == list(pushed["instances"].values())
        for control in ("--gold", "--null"):
            there("evaluate", "rows.jsonl", control, "--runs-dir", "runs")
        assert verdicts_of(tmp_path / "runs") == world.verdicts

        # And of itself: with nothing on the engine and nothing known, evaluate asks the registry.
        there("images", "prune", "--all")
        shutil.rmtree(tmp_path / "cache")
        shutil.rmtree(tmp_path / "runs")
        for control in ("--gold", "--null"):
            there("evaluate", "rows.jsonl", control, "--runs-dir", "runs", "--registry", place)
        assert verdicts_of(tmp_path / "runs") == world.verdicts


def test_an_image_that_nobody_pushed_is_named(there, other, port, tmp_path):
    with registry(tmp_path, f"{other.host}:{port}"):
        done = there("images", "pull", "rows.jsonl", "--registry", f"{other.host}:{port}/nobody", code=3)

    assert "has no image of hello__shipped" in done["problems"]["hello__shipped"]


def test_what_is_built_can_be_sent_to_the_registry_at_once(world, port, tmp_path, docker_engine):
    images = world.assay("images", "build", "rows.jsonl", "--mirror", "mirrors")["instances"]
    name = images["hello__shipped"]["image"]
    docker_engine.remove_image(name)
    place = f"127.0.0.1:{port}/built"
    with registry(tmp_path, f"127.0.0.1:{port}"):
        sent = world.assay("images", "build", "rows.jsonl", "--mirror", "mirrors", "--registry", place, "--push")
        assert sent["built"] == [name]
        docker_engine.remove_image(name)
        back = world.assay("images", "build", "rows.jsonl", "--mirror", "mirrors", "--registry", place)
        assert (back["built"], back["pulled"]) == ([], [name])
