"""Python's unittest: tripwires are a test module of their own, in the root folder."""

import random
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from assay.harness.domain import Siblings, Status
from assay.harness.runners import adapters, python
from assay.harness.runners.base import (
    PLACE,
    WORDS,
    Adapted,
    DoubledFile,
    DoubledTest,
    Tripwires,
    draw_numbers,
    read_placing,
    read_sources,
    snake_name,
)
from assay.harness.runners.choosing import OPTIONS

NAME = "unittest"
PRINTS = frozenset({Status.PASSED, Status.FAILED, Status.XFAIL})
INSIDE = "inside"
"""File in ``$TRIPWIRES`` with what is appended to a module, once for each class in which a test is to be fixed."""
PLACING_INSIDE = read_placing("unittest_classes.sh")
"""Finds the class of a label, which is ``test_sum (app.tests.SumTests)`` below ``$folder`` or a line of a docstring.

Only in what the targets run: files, folders, or dotted names of packages, modules, classes and tests.
"""
PLACING = read_placing("unittest.sh") + PLACING_INSIDE
"""A folder as target is one in which tests are discovered."""

LABEL = re.compile(r"(\w+) \(([\w.]+)\)")
NAMES = 400  # more than a module needs: equal ones are left out
START = frozenset({"-s", "--start-directory"})

TEXTS, BODIES = read_sources(NAME)
METHODS, ASSERTIONS, MARKED = BODIES["methods"], BODIES["assertions"], BODIES["marked"]
FIXTURES = (
    ("    def setUp(self):\n        super().setUp()", Status.FAILED, None),
    ("    def tearDown(self):\n        super().tearDown()", Status.FAILED, None),
    ("    @classmethod\n    def setUpClass(cls):", None, Status.FAILED),
    ("    @classmethod\n    def tearDownClass(cls):\n        super().tearDownClass()", Status.PASSED, Status.FAILED),
)
"""Heads of fixtures that then fail, and the status that this gives a passing test of the class and the class itself.

After a failed ``setUpClass`` nothing would undo what the one above it has done.
"""


@dataclass(frozen=True, slots=True)
class Base:
    """A class that tests derive from."""

    name: str
    bodies: tuple[tuple[Status, str], ...] = METHODS
    first_line: str = ""
    """First line of the body of a class that derives from it."""


BASES = (Base("unittest.TestCase", (*METHODS, *ASSERTIONS)),)


def tripwires(dice: random.Random) -> Tripwires:
    module = f"test_{snake_name(dice)}"
    coroutines = ("unittest.IsolatedAsyncioTestCase", "sys.version_info >= (3, 8)")
    text, inside, expected = sources(dice, BASES, coroutines)
    return Tripwires(files={f"{module}.py": text, INSIDE: inside}, expected=expected, argument=f"{module}.py")


def place_siblings(files: Sequence[DoubledFile]) -> Siblings:
    """Return modules that load single tests."""
    return python.place_files(files, lambda path, text, tests: (load_single(text, tests), f" {shlex.quote(path)}"))


def load_single(text: str, tests: python.Named) -> str:
    """Return the text of a module that loads some of its tests alone, without the docstrings that would name them."""
    cases = dict.fromkeys(f'{_name_class(test)}("{name}")' for test, name in tests)
    return text + TEXTS["loading"].format(cases=", ".join(cases))


def _name_class(test: DoubledTest) -> str:
    """Return the class of a test, as its label names it: the test may be inherited."""
    known = LABEL.fullmatch(test.label)
    inner = known[2].removesuffix(f".{known[1]}").rpartition(".")[2] if known else ""
    outer = test.name.rpartition(".")[0]
    return outer if not inner or outer.rpartition(".")[2] == inner else inner


def adapt(words: Sequence[str]) -> Adapted | None:
    command = adapters.part(words, ("-m", "unittest"), OPTIONS[NAME].value_options)
    if command is None:
        return None
    if command.targets[:1] != ("discover",):
        return command.adapt("unittest_text", "-v", runner=NAME)
    start = [value for option, value in pairwise(words) if option in START]
    arguments = tuple(words[words.index("discover") :])
    adapted = replace(command, options=arguments, targets=()).adapt("unittest_text", "-v", runner=NAME)
    return replace(adapted, targets=(*start, *command.targets[1:2]))


def sources(
    dice: random.Random, bases: Sequence[Base], coroutines: tuple[str, str], head: str = ""
) -> tuple[str, str, dict[str, Status]]:
    """Return the source of a module, that of more tests for a class of the project, and the status of each.

    ``coroutines`` is a class whose tests may be coroutines, and the condition that it is there.
    """
    kind = dice.choice(WORDS).capitalize()
    names = iter(dict.fromkeys(snake_name(dice) for _ in range(NAMES)))
    in_module, in_class, failing = _render_classes(dice, names)
    classes = [_coroutines(dice, names, *coroutines), (in_module, failing)]
    for base in bases:
        classes.append(_methods(dice, names, base, kind))
        classes += [_failing_fixture(dice, names, base, fixture) for fixture in FIXTURES]
    dice.shuffle(classes)
    text = TEXTS["head"].format(kind=kind, head=head) + "".join(source for source, _ in classes)
    return text, in_class, {name: status for _, expected in classes for name, status in expected.items()}


def _render_classes(dice: random.Random, names: Iterator[str]) -> tuple[str, str, dict[str, Status]]:
    """Return failing tests twice: in a class of their own, and for a class that is already there."""
    bodies = (METHODS[2][1], "raise ValueError({number})")
    tests = {f"test_{next(names)}_{PLACE}": _fill(dice, body) for body in bodies}
    methods = "".join(f"\n    def {name}(self):\n        {body}\n" for name, body in tests.items())
    own = _opening(_camel(next(names)), Base("unittest.TestCase")) + methods
    holder = _camel(next(names)) + PLACE
    others = f"\n\nclass {holder}(object):\n{methods}\n\n"
    others += "".join(f"@CLASS@.{name} = {holder}.{name}\n" for name in tests)
    return own, others, dict.fromkeys(tests, Status.FAILED)


def _methods(dice: random.Random, names: Iterator[str], base: Base, kind: str) -> tuple[str, dict[str, Status]]:
    marked = [(status, body, "    @unittest.expectedFailure\n") for status, body in MARKED]
    bodies = [(status, body, "") for status, body in base.bodies] + marked
    text, expected = _opening(_camel(next(names)), base), {}
    for status, body, decorator in dice.sample(bodies, len(bodies)):
        name = f"test_{next(names)}"
        text += f"\n{decorator}    def {name}(self):\n        {_fill(dice, body, kind)}\n"
        expected[name] = status
    return text, expected


def _failing_fixture(
    dice: random.Random, names: Iterator[str], base: Base, fixture: tuple[str, Status | None, Status | None]
) -> tuple[str, dict[str, Status]]:
    """Return a class with a passing test and a fixture that fails."""
    head, of_test, of_class = fixture
    case, name = _camel(next(names)), f"test_{next(names)}"
    text = f"{_opening(case, base)}\n{head}\n        {_fill(dice, 'raise ValueError({number})')}\n"
    text += f"\n    def {name}(self):\n        {_fill(dice, METHODS[0][1])}\n"
    named = {name: of_test, case: of_class}
    return text, {word: status for word, status in named.items() if status}


def _coroutines(dice: random.Random, names: Iterator[str], base: str, condition: str) -> tuple[str, dict[str, Status]]:
    """Return a class with a coroutine that passes and one that fails; with functions where there are no coroutines."""
    case, failing, passing = _camel(next(names)), f"test_{next(names)}", f"test_{next(names)}"
    wrong, right = _fill(dice, METHODS[2][1]), _fill(dice, METHODS[0][1])
    text = f"\n\nif {condition}:\n"
    for parent, define in ((base, "async def"), ("unittest.TestCase", "def")):
        text += f"\n    class {case}({parent}):\n"
        text += f"        {define} {failing}(self):\n            {wrong}\n"
        text += f"\n        {define} {passing}(self):\n            {right}\n"
        text += "\nelse:\n" * (parent == base)
    return text, {failing: Status.FAILED, passing: Status.PASSED}


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def _opening(case: str, base: Base) -> str:
    return f"\n\nclass {case}({base.name}):\n" + (f"    {base.first_line}\n" if base.first_line else "")


def _fill(dice: random.Random, body: str, kind: str = "") -> str:
    return body.format(**draw_numbers(dice), kind=kind)
