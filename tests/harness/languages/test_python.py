import pytest

from assay.harness.errors import UserError
from assay.harness.languages import find, python


def test_unknown_language_names_the_known_ones() -> None:
    with pytest.raises(UserError, match=r"unknown language 'cobol'; known are .*python"):
        find("cobol")


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_a.py",
        "tests/data/answer.json",
        "pkg/tests/helper.py",
        "testing/python/fixtures.py",
        "test/unit.py",
        "pkg/test_mod.py",
        "pkg/mod_test.py",
        "app/tests.py",
        "conftest.py",
    ],
)
def test_test_files(path: str) -> None:
    assert python.is_test_file(path)


@pytest.mark.parametrize(
    "path", ["pkg/core.py", "django/test/client.py", "numpy/testing/utils.py", "pkg/latest.py", "testing.py", "tests"]
)
def test_other_files(path: str) -> None:
    assert not python.is_test_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py",
        "a/b/conftest.py",
        "pytest.ini",
        "setup.cfg",
        "tox.ini",
        "pyproject.toml",
        "sitecustomize.py",
        "x.pth",
    ],
)
def test_runner_config(path: str) -> None:
    assert python.runner_config(path)


@pytest.mark.parametrize("path", ["setup.py", "docs/conf.py", "conftest.pyc", "tests/test_a.py", "conftest.py/x"])
def test_no_runner_config(path: str) -> None:
    assert not python.runner_config(path)


def test_mistake_is_what_python_says_of_a_py_file() -> None:
    assert python.mistake("a.py", "x = 1\nreturn x\n") == "line 2: 'return' outside function"
    assert python.mistake("a.pyi", "return x\n") == ""


def test_test_targets_are_test_modules() -> None:
    paths = [
        "tests/unittest_b.py",
        "tests/test_a.py",
        "tests/data.json",
        "tests/conftest.py",
        "tests/__init__.py",
        "src/core.py",
        "tests/test_a.py",
    ]
    assert python.test_targets(paths) == ("tests/unittest_b.py", "tests/test_a.py")
