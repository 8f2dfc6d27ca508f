import pytest

from assay.instances.environments.pins.project import ALWAYS, SETUPTOOLS, BuildSystem, read_build_system


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
