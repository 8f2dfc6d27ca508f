"""Finding out which functions of some files each test runs."""

import shlex
import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from assay.harness.patchdiff.generators.suites.reach_map import read_lines

pytestmark = pytest.mark.slow

Make = Callable[..., Any]
SHOP = "shop/__init__.py"
TARGETS = [{"path": SHOP, "name": SHOP, "first": 1, "last": 10**9}]
CODE = """\
import functools


def early():
    return 1


ONE = early()


def price(count):
    return count * ONE


def apart():
    return price(2)
"""


def reached(make_project: Make, tests: str, **more: str) -> Mapping[str, Mapping[str, list[int | str]]]:
    project = make_project("reach", CODE, tests, **more)
    found = read_lines(project.run("reach", targets=TARGETS, files=["tests/test_shop.py", "tests/test_more.py"]).rows)
    return {file: {path: sorted(lines) for path, lines in ran.items()} for file, ran in found.items()}


MORE = {"tests/test_more.py": "import shop\n\n\ndef test_one():\n    assert shop.ONE == 1\n"}


def test_each_file_has_the_functions_that_its_tests_run_and_those_of_the_import(make_project: Make) -> None:
    tests = "import pytest, shop\n\n\n@pytest.fixture\ndef two():\n    return shop.price(2)\n\n\n"
    tests += "def test_a(two):\n    assert two == 2\n\n\ndef test_b():\n    pass\n"
    assert reached(make_project, tests, **MORE) == {
        "tests/test_shop.py": {SHOP: [1, 4, 11]},
        "tests/test_more.py": {SHOP: [1, 4]},
    }


@pytest.mark.parametrize(
    "body",
    ["sys.settrace(None)", "pytest.skip()", "assert False", "pytest.xfail()"],
    ids=["trace", "skip", "fail", "xfail"],
)
def test_test_that_did_not_pass_or_was_not_watched_may_have_run_more(make_project: Make, body: str) -> None:
    tests = "import pytest\n\n\n@pytest.fixture\ndef two():\n    raise ValueError\n\n\ndef test_a(two):\n    pass\n"
    more = f"import pytest, sys\n\n\ndef test_b():\n    {body}\n"
    found = reached(make_project, tests, **{"tests/test_more.py": more})
    hidden = {"tests/test_shop.py": "test_a", "tests/test_more.py": "test_b"}
    assert found == {file: {"": [f"{file}::{name}"]} for file, name in hidden.items()}


def test_file_of_a_test_that_takes_its_process_along_is_not_known(make_project: Make) -> None:
    tests = "import os\n\n\ndef test_a():\n    os._exit(1)\n\n\ndef test_b():\n    pass\n"
    assert list(reached(make_project, tests, **MORE)) == ["tests/test_more.py"]


@pytest.mark.parametrize(
    ("code", "is_known"),
    [
        ("import shop\n\n\ndef helper():\n    return shop.price(1)\n", True),
        ("class TestNothing:\n    pass\n", True),
        ("import gone\n", False),
        ("import pytest\n\npytest.skip('not here', allow_module_level=True)\n", False),
        ('"""An example.\n\n>>> 1 + 1\n2\n"""\n', False),
    ],
    ids=["functions", "class", "broken", "skipped", "example"],
)
@pytest.mark.parametrize("beside", ["def test_a():\n    pass\n", ""], ids=["beside-a-test", "alone"])
def test_file_that_was_read_and_has_no_test_runs_nothing(
    make_project: Make, code: str, is_known: bool, beside: str
) -> None:
    found = reached(make_project, beside, **{"tests/test_more.py": code})
    assert found.get("tests/test_more.py") == ({} if is_known else None)


def test_threads_are_seen_and_other_processes_are_not(make_project: Make) -> None:
    tests = "import threading, shop\n\n\ndef test_a():\n    each = threading.Thread(target=shop.apart)\n"
    tests += "    each.start()\n    each.join()\n"
    more = "import subprocess, sys\n\n\ndef test_b():\n    subprocess.run([sys.executable, '-c', ''])\n"
    more += "\n\ndef test_c():\n    pass\n"
    found = reached(make_project, tests, **{"tests/test_more.py": more})
    of_more = {"": ["tests/test_more.py::test_b"], SHOP: [1, 4]}
    assert found == {"tests/test_shop.py": {SHOP: [1, 4, 11, 15]}, "tests/test_more.py": of_more}


def test_tests_of_the_projects_own_runner_are_seen_with_the_set_up_of_their_class(make_project: Make) -> None:
    tests = "import unittest, shop\n\n\nclass Case(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n"
    tests += "        shop.apart()\n\n    def test_a(self):\n        pass\n"
    project = make_project("reach", CODE, tests, **{"tests/__init__.py": ""})
    command = f"{shlex.quote(sys.executable)} -m unittest tests.test_shop"
    found = read_lines(project.run("reach", targets=TARGETS, command=command).rows)
    assert {path: sorted(lines) for path, lines in found["tests/test_shop.py"].items()} == {SHOP: [1, 4, 11, 15]}
