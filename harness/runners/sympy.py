"""SymPy's own runner: tripwires are a test module of their own, at the top of the package."""

import random
import shlex
from collections.abc import Sequence

from assay.harness.domain import Siblings, Status
from assay.harness.languages.syntax import definitions
from assay.harness.runners import adapters, python
from assay.harness.runners.base import (
    PLACE,
    WORDS,
    Adapted,
    DoubledFile,
    Tripwires,
    draw_numbers,
    read_placing,
    read_sources,
    snake_name,
)
from assay.harness.runners.choosing import OPTIONS

NAME = "sympy"
PRINTS = frozenset({Status.PASSED, Status.FAILED, Status.XFAIL})
INSIDE = "inside"  # file in ``$TRIPWIRES`` with what is appended to every file that has a test to be fixed
PLACING = read_placing("sympy.sh")

TEXTS, BODIES = read_sources(NAME)
FUNCTIONS, MARKED = BODIES["functions"], BODIES["marked"]


INSIDE_BODIES = (FUNCTIONS[2], FUNCTIONS[-1])
"""They fail beside the tests that are to be fixed, and use no name but built-in ones."""


def tripwires(dice: random.Random) -> Tripwires:
    names = iter(dict.fromkeys(snake_name(dice) for _ in range(100)))
    kind, path = dice.choice(WORDS).capitalize(), f"test_{next(names)}.py"
    bodies = [*((*each, "") for each in FUNCTIONS), *((*each, "@XFAIL\n") for each in MARKED)]
    own = [(f"test_{next(names)}", *body) for body in dice.sample(bodies, len(bodies))]
    inside = [(f"test_{next(names)}_{PLACE}", *body, "") for body in INSIDE_BODIES]
    of_both = "".join(_function(dice, name, body, kind) for name, _, body, _ in inside)
    text = TEXTS["head"].format(kind=kind) + of_both
    text += "".join(_function(dice, name, body, kind, decorator) for name, _, body, decorator in own)
    expected = {name: status for name, status, _, _ in (*own, *inside)}
    return Tripwires(files={path: text, INSIDE: of_both}, expected=expected, argument=f"sympy/{path}")


def place_siblings(files: Sequence[DoubledFile]) -> Siblings:
    """Return files without their other tests: the runner takes whole files."""
    return python.place_files(files, _leave_out)


def _leave_out(path: str, text: str, tests: python.Named) -> tuple[str, str]:
    lines, kept = text.split("\n"), {test.first for test, _ in tests}
    for each in definitions("python", path, text):
        if each.name.startswith("test_") and each.kind == "function" and each.first not in kept:
            lines[each.first - 1 : each.last] = [""] * (each.last - each.first + 1)
    return "\n".join(lines), f" {shlex.quote(path)}"


def _function(dice: random.Random, name: str, body: str, kind: str, decorator: str = "") -> str:
    return f"\n\n{decorator}def {name}():\n    {body.format(**draw_numbers(dice), kind=kind)}\n"


def adapt(words: Sequence[str]) -> Adapted | None:
    command = adapters.part(words, ("bin/test",), OPTIONS[NAME].value_options)
    return command.adapt("sympy_text", "--verbose", "--no-subprocess", runner=NAME) if command else None
