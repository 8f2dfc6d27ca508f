"""Django's runner: tripwires are an application of their own, beside those of the tests."""

import random
import shlex
from collections.abc import Sequence

from assay.harness.domain import Siblings
from assay.harness.runners import adapters, python, unittest
from assay.harness.runners.base import Adapted, DoubledFile, Tripwires, read_placing, read_sources, snake_name
from assay.harness.runners.choosing import OPTIONS
from assay.harness.runners.unittest import LABEL, METHODS, Base

NAME = "django"
PRINTS = unittest.PRINTS
PLACING = read_placing("django.sh") + unittest.PLACING_INSIDE

RUNS_OTHERS = frozenset({"--bisect", "--pair"})  # options with which it starts programs of its own

ASSERTIONS = read_sources(NAME)[1]["assertions"]
BASES = (
    Base("unittest.TestCase"),
    Base("SimpleTestCase"),
    Base("TestCase", (*METHODS, *unittest.ASSERTIONS, *ASSERTIONS), "databases = frozenset()"),
)
"""No databases, since a run of simple tests would have to create one."""
HEAD = """
from django.http import HttpResponse
from django.test import SimpleTestCase, TestCase, testcases
"""


def choose(labels: Sequence[str], targets: Sequence[str]) -> tuple[str, ...]:
    """Return targets that are the tests of some labels alone, such as ``test_sum (app.tests.SumTests)``.

    None if a label is no such test, or one of no target.
    """
    found = [LABEL.fullmatch(label) for label in labels]
    tests = dict.fromkeys(f"{each[2].removesuffix(f'.{each[1]}')}.{each[1]}" for each in found if each)
    known = all(any(test.startswith(f"{target}.") for target in targets) for test in tests)
    return tuple(tests) if known and all(found) else ()


def tripwires(dice: random.Random) -> Tripwires:
    package, module = snake_name(dice), f"test_{snake_name(dice)}"
    text, inside, expected = unittest.sources(
        dice, BASES, ("SimpleTestCase", "hasattr(testcases, 'async_to_sync')"), HEAD
    )
    files = {f"{package}/__init__.py": "", f"{package}/{module}.py": text, unittest.INSIDE: inside}
    return Tripwires(files=files, expected=expected, argument=f"{package}.{module}")


def place_siblings(files: Sequence[DoubledFile]) -> Siblings:
    """Return modules that load single tests, in the applications of their originals."""

    def finish(path: str, text: str, tests: python.Named) -> tuple[str, str]:
        module = path.removeprefix("tests/").removesuffix(".py").replace("/", ".")
        return unittest.load_single(text, tests), f" {shlex.quote(module)}"

    return python.place_files(files, finish)


def adapt(words: Sequence[str]) -> Adapted | None:
    """Adapt ``runtests.py``: one process, which is that of the tripwires too, and a line for every test."""
    command = adapters.part(words, ("runtests.py",), OPTIONS[NAME].value_options)
    if command is None or RUNS_OTHERS & set(command.options):
        return None
    return command.adapt("unittest_text", "--verbosity", "2", "--parallel", "1", runner=NAME)
