"""Test files that are run although others of the same run cannot be."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow

CODE = "def half(number):\n    return number / 2\n"
TESTS = "from shop import half\n\n\ndef test_half():\n    assert half(4) == 2\n"
Make = Callable[..., Any]


def test_broken_conftest_costs_only_its_own_folder(make_project: Make) -> None:
    files = {
        "tests/bad/conftest.py": "import absent\n",
        "tests/bad/test_bad.py": TESTS,
        "tests/good/test_good.py": TESTS,
        "tests/broken/test_broken.py": "import shop\n\nshop.absent\n",
    }
    project = make_project("folders", CODE, TESTS, **files)
    wanted = ["tests/test_shop.py", "tests/bad/test_bad.py", "tests/broken/test_broken.py", "tests/good/test_good.py"]
    ran = project.run("amplify", files=wanted, targets=project.targets("half"), mutants=2)
    assert {row["test"].partition("::")[0] for row in ran.seen.values() if row["kind"] == "value"} == {
        "tests/test_shop.py",
        "tests/good/test_good.py",
    }
    failed = {row["test"]: (row["kind"], row["type"]) for row in ran.seen.values() if row["key"].endswith("import#1")}
    assert failed == {
        "tests/bad/test_bad.py": ("error", "UsageError"),
        "tests/broken/test_broken.py": ("error", "AttributeError"),
    }


def test_files_without_tests_give_nothing(make_project: Make) -> None:
    project = make_project("none", CODE, "VALUE = 1\n", **{"tests/test_more.py": "OTHER = 2\n"})
    ran = project.run("amplify", files=["tests/test_shop.py", "tests/test_more.py"], targets=project.targets("half"))
    assert ran.rows == [{"end": "done"}]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pytest.ini", "[pytest]\naddopts = --absent -p no:doctest -p given\n"),
        ("setup.cfg", "[tool:pytest]\naddopts =\n    --absent\n    -pgiven\ntestpaths = tests -p absent\n"),
        ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = [\n    "--absent",\n    "-p", "given",\n]\n'),
    ],
    ids=["ini", "cfg", "toml"],
)
def test_plugins_of_the_projects_options_are_loaded_and_nothing_else_of_them(
    make_project: Make, name: str, text: str
) -> None:
    tests = "from shop import half\n\n\ndef test_half(four):\n    assert half(four) == 2\n"
    plugin = "import pytest\n\n\n@pytest.fixture\ndef four():\n    return 4\n"
    project = make_project("loaded", CODE, tests, **{name: text, "given.py": plugin})
    ran = project.run("amplify", targets=project.targets("half"), mutants=0)
    assert {row["text"] for row in ran.seen.values() if row["target"] == "half" and row["kind"] == "value"} >= {"2.0"}


def test_tests_that_name_a_target_run_first(make_project: Make) -> None:
    tests = (
        'import shop\n\n\ndef test_a():\n    assert len("a") == 1\n\n\ndef test_b():\n    assert shop.half(4) == 2\n'
    )
    project = make_project("ordered", CODE, tests, **{"tests/test_more.py": tests})
    files = ["tests/test_shop.py", "tests/test_more.py"]
    rows = project.run("amplify", files=files, targets=project.targets("half"), mutants=0).rows
    order = list(dict.fromkeys(row["test"] for row in rows if row.get("key", "").endswith("|s0#1")))
    assert order == [f"{file}::{name}" for name in ("test_b", "test_a") for file in files]
