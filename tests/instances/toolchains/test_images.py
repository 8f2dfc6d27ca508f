from dataclasses import replace
from pathlib import Path

import pytest

from assay.harness.domain import Recipe
from assay.harness.engines.docker import DockerEngine
from assay.harness.engines.fake import FakeEngine, open_engine
from assay.harness.errors import EnvironmentFailure, UserError
from assay.harness.languages import LANGUAGES
from assay.instances.toolchains.images import bootstrap, find_toolchain
from assay.instances.toolchains.versions import versions_of


@pytest.fixture
def engine() -> FakeEngine:
    return open_engine()


def test_each_python_has_its_debian_release_and_its_own_name(engine: FakeEngine):
    found = [find_toolchain(Recipe(toolchain=version), {}, engine) for version in ("3.9", "3.11", "3.13")]

    assert [each.suite for each in found] == ["bullseye", "bookworm", "trixie"]
    assert len({each.name for each in found}) == 3
    assert found[1].name.startswith("assay/toolchain-python:3.11-")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_default_version_of_each_language_comes_from_debian(engine: FakeEngine, language: str):
    usual = find_toolchain(Recipe(language=language), {}, engine)

    assert usual.suite
    assert {"git", "patch", *versions_of(language).versions[versions_of(language).default].packages} == {
        *usual.packages
    } - {"procps", "ca-certificates"}


def test_an_unknown_language_is_refused(engine: FakeEngine):
    with pytest.raises(UserError, match="cobol"):
        find_toolchain(Recipe(language="cobol"), {}, engine)


def test_a_version_that_debian_lacks_needs_a_users_image(engine: FakeEngine):
    with pytest.raises(EnvironmentFailure, match=r"python 3.6 .*\[toolchains.python\]"):
        find_toolchain(Recipe(toolchain="3.6"), {}, engine)


def test_a_bootstrap_without_mmdebstrap_names_the_remedy(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(EnvironmentFailure, match="apt-get install mmdebstrap") as caught:
        bootstrap(find_toolchain(Recipe(), {}, engine), engine, tmp_path, tmp_path / "log")

    assert "\n" not in str(caught.value)


def test_a_failed_bootstrap_carries_its_log(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    program = tmp_path / "mmdebstrap"
    program.write_text("#!/bin/sh\necho E: no such suite: $5 $6\nexit 25\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    wanted = replace(find_toolchain(Recipe(), {}, engine), suite="bookwurm")

    with pytest.raises(EnvironmentFailure, match="exit code 25") as caught:
        bootstrap(wanted, engine, tmp_path, tmp_path / "log")

    assert caught.value.log_path == str(tmp_path / "log")
    assert "no such suite" in caught.value.tail


@pytest.mark.docker
def test_a_users_image_is_used_unchanged(docker_engine: DockerEngine, toolchain_image: str):
    chosen = find_toolchain(Recipe(toolchain="3.6"), {"python": {"3.6": toolchain_image}}, docker_engine)

    assert (chosen.name, chosen.suite) == (toolchain_image, "")
    assert chosen.identity.startswith("sha256:")


@pytest.mark.docker
@pytest.mark.parametrize("image", ["assay-test/absent:1", "localhost:1/absent@sha256:" + "0" * 64])
def test_a_missing_users_image_is_an_environment_failure(docker_engine: DockerEngine, image: str):
    with pytest.raises(EnvironmentFailure, match="toolchain image"):
        find_toolchain(Recipe(), {"python": {"3.11": image}}, docker_engine)


@pytest.mark.docker
def test_a_bootstrapped_image_has_the_programs_of_every_environment(docker_engine: DockerEngine, toolchain_image: str):
    from assay.harness.domain import Limits

    with docker_engine.open(toolchain_image, Limits(), {}) as box:
        done = box.exec(
            ["sh", "-c", "python3 --version && python3 -m venv -h >/dev/null && command -v git patch ps tar"]
        )

    assert done.exit_code == 0
    assert done.output.startswith(b"Python 3.11.")
