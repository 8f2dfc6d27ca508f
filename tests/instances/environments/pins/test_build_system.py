import pytest

from assay.instances.environments.pins.build_system import (
    ALWAYS,
    SETUPTOOLS,
    BuildSystem,
    find_build_system,
    read_build_system,
)


@pytest.mark.parametrize(
    "text", [None, b"", b"[tool.black]\nline-length = 99\n", b"not toml [", b"\xff\xfe", b"build-system = 3"]
)
def test_a_project_without_a_build_system_gets_setuptools(text):
    assert read_build_system(text) == BuildSystem(ALWAYS, SETUPTOOLS, ())


def test_the_build_system_table_is_read():
    text = b"""
[build-system]
requires = ["setuptools>=61", "wheel", "tag-reader"]
build-backend = "own"
backend-path = ["_build"]
"""

    system = read_build_system(text)

    assert system.requires == ("pip", "setuptools", "wheel", "setuptools>=61", "tag-reader")
    assert (system.backend, system.backend_path) == ("own", ("_build",))


def test_hatchling_gets_what_editable_installs_need():
    text = b'[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'

    assert read_build_system(text).requires[-2:] == ("hatchling", "editables")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("oldest-supported-numpy", "numpy"),
        ("Oldest_Supported_Numpy ; python_version < '3.12'", "numpy; python_version < '3.12'"),
        ("numpy==1.19.3", "numpy==1.19.3"),
        ("cython>=0.29; python_version < '3.12'", "cython>=0.29; python_version < '3.12'"),
    ],
)
def test_a_build_takes_the_numpy_of_the_tests(written: str, read: str):
    """Asked for as it is, it would pin the tests to the oldest numpy, too, which newer packages refuse."""
    text = f'[build-system]\nrequires = ["{written}"]\n'.encode()

    assert read_build_system(text).requires[-1] == read


@pytest.mark.parametrize(
    "files",
    [
        {"setup.py": b""},
        {"setup.cfg": b"[metadata]\nname = calc\n"},
        {"pyproject.toml": b'[project]\nname = "calc"\n'},
        {"pyproject.toml": b"[build-system]\nrequires = []\n"},
        {"pyproject.toml": b'[tool.poetry]\nname = "calc"\n'},
    ],
)
def test_a_tree_that_can_be_installed_is_a_project(files: dict[str, bytes]):
    assert find_build_system(files.get).backend == SETUPTOOLS


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"pyproject.toml": b"[tool.black]\nline-length = 99\n"},
        {"pyproject.toml": b"tool = 3\n", "setup.cfg": b"[flake8]\nignore = E1\n"},
        {"setup.cfg": b"no section"},
    ],
)
def test_a_tree_that_only_configures_tools_is_no_project(files: dict[str, bytes]):
    assert find_build_system(files.get) == BuildSystem(ALWAYS, backend="")


def test_requirement_files_name_the_packages_of_a_tree_that_is_no_project():
    files = {"requirements/test.txt": b"", "requirements.txt": b"", "docs/requirements.txt": b""}

    assert find_build_system(files.get).requirement_files == ("requirements.txt", "requirements/test.txt")
