from pathlib import Path

import pytest

from assay.harness.domain import Recipe, Service
from assay.harness.errors import EnvironmentFailure
from assay.instances.environments.pins import pypi_lock
from assay.instances.environments.pins.build_system import BuildSystem
from assay.instances.environments.pins.pypi_lock import (
    NO_ANSWER,
    bounds,
    drop_local,
    exports,
    lock_request,
    resolve_lock,
    service_lock_request,
)
from assay.instances.toolchains.host import IN_BOX, linux_uv, write_secrets
from assay.instances.toolchains.images import Toolchain
from saved_images import tree
from toy import make_instance

TOOLCHAIN = Toolchain("assay/toolchain-python:3.11-x", "assay/toolchain-python:3.11-x")
DATE = "2023-02-02T00:00:00Z"


def test_packages_of_the_tree_are_left_out_of_a_lock():
    lock = "a==1 \\\n    --hash=sha256:0\nproject @ file:///testbed\n-e file:///testbed\nb==2\n./local\n"

    assert drop_local(lock) == "a==1 \\\n    --hash=sha256:0\nb==2\n"


@pytest.mark.parametrize(
    ("newest", "own"),
    [
        (
            "2018-10-01T00:00:00Z",
            ["atomicwrites=2022-07-09T00:00:00Z", "pandas=2019-07-20T00:00:00Z", "setuptools=2019-02-06T00:00:00Z"],
        ),
        ("2019-07-18T00:00:00Z", ["atomicwrites=2022-07-09T00:00:00Z", "pandas=2019-07-20T00:00:00Z"]),
        ("2019-10-01T00:00:00Z", ["atomicwrites=2022-07-09T00:00:00Z"]),
        ("2023-10-01T00:00:00Z", []),
    ],
)
def test_some_packages_have_an_earliest_date_of_their_own(newest: str, own: list[str]):
    assert bounds(newest) == (f"--exclude-newer={newest}", *(f"--exclude-newer-package={each}" for each in own))


@pytest.mark.parametrize(
    ("said", "silent"),
    [
        ("error: Request failed after 3 retries in 10.2s\n  cause: Failed to fetch: `https://index/flask/`", True),
        ("  Caused by: error sending request for url (https://index.example/flask/)\n  Caused by: dns error", True),
        ("  cause: HTTP status server error (503 Service Unavailable) for url (https://index.example/flask/)", True),
        ("error: No solution found when resolving\n  cause: Because there is no version of flask==99", False),
        ("  x Failed to build `acme @ file:///testbed`\n  URLError: error sending request for url", False),
    ],
)
def test_index_that_does_not_answer_is_told_from_one_that_has_nothing(said: str, silent: bool):
    assert bool(NO_ANSWER.search(said)) is silent


def test_the_version_is_exported_only_on_request():
    instance = make_instance(version="1.2; rm -rf /")

    assert exports(instance, Recipe()) == ""
    assert "SETUPTOOLS_SCM_PRETEND_VERSION='1.2; rm -rf /'\n" in exports(instance, Recipe(pretend_version=True))


def test_the_key_of_a_lock_changes_with_every_input():
    usual = {"instance": make_instance(), "recipe": Recipe(), "toolchain": TOOLCHAIN, "system": BuildSystem()}

    def key(instance=None, **changes) -> str:
        given = {"date": DATE, **usual, **changes} | ({"instance": instance} if instance else {})
        return lock_request(**given).key

    keys = [
        key(),
        key(make_instance(base_commit="1" * 40)),
        key(date="2024-01-01T00:00:00Z"),
        key(recipe=Recipe(packages=("pytest", "more"))),
        key(recipe=Recipe(extras=("test",))),
        key(recipe=Recipe(requirements=("dev.txt",))),
        key(recipe=Recipe(constraints=("a<2",))),
        key(recipe=Recipe(metadata=False)),
        key(toolchain=Toolchain("x", "sha256:1")),
        key(system=BuildSystem(requires=("hatchling",))),
    ]
    assert len(set(keys)) == len(keys)
    assert key() == key(make_instance(id="acme__calc-2", gold_patch="", test_patch=""))


def test_a_tree_that_is_no_project_is_asked_for_nothing():
    system = BuildSystem(backend="", requirement_files=("requirements.txt",))

    request = lock_request(make_instance(), Recipe(), TOOLCHAIN, system, DATE)

    assert request.requirements == ("pip", "setuptools", "wheel", "pytest")
    assert request.files == ("requirements.txt",)
    own = lock_request(make_instance(), Recipe(requirements=("dev.txt",)), TOOLCHAIN, system, DATE)
    assert own.files == ("dev.txt",)


SETUP = """\
from setuptools import setup
setup(name="iniconfig", version="9", install_requires=["packaging"], extras_require={"x": ["pluggy"]})
"""
TAGGED = "[egg_info]\ntag_build = .dev\ntag_date = true\n"
"""setuptools of some years puts these at the end of the version twice, which makes it none."""


def request(**recipe):
    return lock_request(make_instance(), Recipe(**recipe), TOOLCHAIN, BuildSystem(), DATE)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    return {f"{IN_BOX}/{key}": path for key, path in write_secrets(tmp_path).items()} | {"/run/uv": linux_uv(tmp_path)}


@pytest.mark.docker
@pytest.mark.network
def test_a_lock_has_the_versions_of_the_instances_date(docker_engine, toolchain_image, tmp_path: Path, files):
    source = tree(tmp_path, setup__py=SETUP, setup__cfg=TAGGED, more__txt="click\natomicwrites\n")
    wanted = request(extras=("x",), requirements=("more.txt",), constraints=("click<8.1",))

    lock = resolve_lock(wanted, toolchain_image, docker_engine, source, files)

    pins = dict(line.split(" ")[0].split("==") for line in lock.splitlines() if "==" in line)
    assert pins["packaging"] == "23.0"  # 23.1 is of April
    assert pins["pluggy"] == "1.0.0"
    assert pins["pytest"] == "7.2.1"  # 7.2.2 is of March
    assert pins["click"] == "8.0.4"
    assert {"pip", "setuptools", "wheel"} <= pins.keys()
    assert "iniconfig" not in pins  # pytest wants it, and the project is it
    assert lock.count("--hash=sha256:") >= len(pins)


@pytest.mark.docker
@pytest.mark.network
def test_an_unsatisfiable_requirement_is_an_environment_failure(docker_engine, toolchain_image, tmp_path, files):
    source = tree(tmp_path, setup__py="from setuptools import setup\nsetup(name='calc')")
    wanted = request(packages=("pytest>=8",))

    with pytest.raises(EnvironmentFailure, match="packages of acme/calc as of 2023-02-02") as caught:
        resolve_lock(wanted, toolchain_image, docker_engine, source, files)

    assert "pytest" in caught.value.tail


@pytest.mark.docker
@pytest.mark.network
def test_a_setup_script_that_does_not_end_is_an_environment_failure_with_the_limit(
    docker_engine, toolchain_image, tmp_path, files, monkeypatch
):
    monkeypatch.setattr(pypi_lock, "SECONDS", 4.0)
    source = tree(tmp_path, setup__py="import time\ntime.sleep(60)\n")

    with pytest.raises(EnvironmentFailure, match="cannot be resolved: took more than 4 s"):
        resolve_lock(request(), toolchain_image, docker_engine, source, files)


def test_a_services_lock_has_the_instances_cut_off_and_no_project():
    service = Service(name="web", packages=("flask",), command="flask run", port=80)
    recipe = Recipe(packages=("pytest", "more"), constraints=("a<2",))
    request = service_lock_request(service, TOOLCHAIN, DATE)
    tests = lock_request(make_instance(), recipe, TOOLCHAIN, BuildSystem(), DATE)

    assert (request.cutoff, request.toolchain) == (tests.cutoff, tests.toolchain)
    assert (request.requirements, request.tree) == (("flask",), None)
    assert request.key != tests.key
