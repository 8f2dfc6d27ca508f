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


PROJECT, NONE = BuildSystem(), BuildSystem(backend="")


@pytest.mark.parametrize(
    ("files", "system"),
    [
        ({"setup.py": b""}, PROJECT),
        ({"setup.cfg": b"[metadata]\nname = calc\n"}, PROJECT),
        ({"pyproject.toml": b'[project]\nname = "calc"\n'}, PROJECT),
        ({"pyproject.toml": b"[build-system]\nrequires = []\n"}, PROJECT),
        ({"pyproject.toml": b'[tool.poetry]\nname = "calc"\n'}, PROJECT),
        ({}, NONE),
        ({"pyproject.toml": b"[tool.black]\nline-length = 99\n"}, NONE),
        ({"pyproject.toml": b"tool = 3\n", "setup.cfg": b"[flake8]\nignore = E1\n"}, NONE),
        ({"setup.cfg": b"no section"}, NONE),
    ],
)
def test_a_tree_is_a_project_if_it_can_be_installed_and_not_if_it_only_configures_tools(files, system: BuildSystem):
    assert find_build_system(files.get) == system


def test_requirement_files_name_the_packages_of_a_tree_that_is_no_project():
    files = {"requirements/test.txt": b"", "requirements.txt": b"", "docs/requirements.txt": b""}

    assert find_build_system(files.get).requirement_files == ("requirements.txt", "requirements/test.txt")
