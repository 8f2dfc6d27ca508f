from dataclasses import replace
from pathlib import Path

import pytest

from assay.harness.domain import Recipe
from assay.harness.engines.docker import DockerEngine
from assay.harness.engines.fake import FakeEngine, open_engine
from assay.harness.errors import EnvironmentFailure
from assay.instances.toolchains import SUITES, bootstrap, toolchain


@pytest.fixture
def engine() -> FakeEngine:
    return open_engine()


def test_each_python_has_its_debian_release_and_a_name_of_its_own(engine: FakeEngine):
    found = [toolchain(Recipe(python=version), {}, engine) for version in SUITES]

    assert [each.suite for each in found] == ["bullseye", "bookworm", "trixie"]
    assert len({each.name for each in found}) == 3
    assert found[1].name.startswith("assay/toolchain-python:3.11-")


def test_a_python_that_debian_does_not_carry_needs_an_image_of_the_users(engine: FakeEngine):
    with pytest.raises(EnvironmentFailure, match=r"Python 3.6 .*\[toolchains.python\]"):
        toolchain(Recipe(python="3.6"), {}, engine)


def test_bootstrap_without_mmdebstrap_says_what_to_do(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(EnvironmentFailure, match="apt-get install mmdebstrap") as caught:
        bootstrap(toolchain(Recipe(), {}, engine), engine, tmp_path, tmp_path / "log")

    assert "\n" not in str(caught.value)


def test_a_failed_bootstrap_carries_its_log(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    program = tmp_path / "mmdebstrap"
    program.write_text("#!/bin/sh\necho E: no such suite: $5 $6\nexit 25\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    wanted = replace(toolchain(Recipe(), {}, engine), suite="bookwurm")

    with pytest.raises(EnvironmentFailure, match="exit code 25") as caught:
        bootstrap(wanted, engine, tmp_path, tmp_path / "log")

    assert caught.value.log_path == str(tmp_path / "log")
    assert "no such suite" in caught.value.tail


@pytest.mark.docker
def test_an_image_of_the_users_is_taken_as_it_is(docker_engine: DockerEngine, toolchain_image: str):
    chosen = toolchain(Recipe(python="3.6"), {"3.6": toolchain_image}, docker_engine)

    assert (chosen.name, chosen.suite) == (toolchain_image, "")
    assert chosen.identity.startswith("sha256:")


@pytest.mark.docker
@pytest.mark.parametrize("image", ["assay-test/absent:1", "localhost:1/absent@sha256:" + "0" * 64])
def test_an_image_of_the_users_that_is_not_there_is_no_reason_to_take_another(docker_engine: DockerEngine, image: str):
    with pytest.raises(EnvironmentFailure, match="toolchain image"):
        toolchain(Recipe(), {"3.11": image}, docker_engine)


@pytest.mark.docker
def test_a_bootstrapped_image_has_what_every_environment_needs(docker_engine: DockerEngine, toolchain_image: str):
    from assay.harness.domain import Limits

    with docker_engine.open(toolchain_image, Limits(), {}) as box:
        done = box.exec(
            ["sh", "-c", "python3 --version && python3 -m venv -h >/dev/null && command -v git patch ps tar"]
        )

    assert done.exit_code == 0
    assert done.output.startswith(b"Python 3.11.")
