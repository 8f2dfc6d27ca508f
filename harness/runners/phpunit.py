"""PHPUnit: all files run in one process.

Tripwires are in the classes of the tests that the patch has to fix, and in one of their own, which
/opt/assay/phpunit.php adds. Names of methods are one word in prose, too: places are letters.
"""

import random
import shlex
from collections.abc import Sequence

from assay.harness.domain import Status
from assay.harness.runners import commands
from assay.harness.runners.base import (
    PLACE,
    Adapted,
    Tripwires,
    camel_name,
    draw_numbers,
    no_siblings,
    read_placing,
    read_sources,
    snake_name,
)
from assay.harness.runners.choosing import OPTIONS, read_choice

NAME = "phpunit"
place_siblings = no_siblings
PRINTS = frozenset({Status.FAILED})
INSERT = read_placing("phpunit_insert.php")
"""Source of a program that inserts methods into the class of a file, if that has a test which the patch has to fix."""
PLACING = read_placing("phpunit.sh")

TEXTS, GROUPS = read_sources(NAME)
BODIES = GROUPS["methods"]


OTHER_WORK = frozenset({"--list-tests", "--version", "--no-logging", "--generate-configuration", "--check-version"})
STOPS = frozenset({"--stop-on-failure", "--stop-on-error", "--stop-on-defect", "--stop-on-warning"})
LEFT_OUT = frozenset({"--testdox", "--log-junit", "--colors"}) | STOPS


def tripwires(dice: random.Random) -> Tripwires:
    """Return a class whose methods have the same name in prose as in code."""
    case, expected, methods = f"{camel_name(dice)}Test", {}, ""
    for status, body in dice.sample(BODIES, len(BODIES)):
        name = snake_name(dice).replace("_", "").capitalize() + PLACE
        methods += TEXTS["method"].format(name=name, body=body.format(**draw_numbers(dice)))
        expected[name] = status
    files = {f"{case}.php": TEXTS["class"] % (case, methods), "methods": methods, "insert.php": INSERT}
    return Tripwires(files=files, expected=expected, argument=f"{case}.php")


def adapt(words: Sequence[str]) -> Adapted | None:
    """Adapt ``phpunit`` and ``vendor/bin/phpunit``; tripwires are in classes alone, since it takes one file."""
    command = commands.part(words, "phpunit", OPTIONS[NAME].value_options)
    if not command or command.has(OTHER_WORK):
        return None
    text = f"exec {shlex.join(command.without(LEFT_OUT))} --testdox --colors=never --log-junit {{report}}"
    runs_tripwires = read_choice(NAME, [command.without(LEFT_OUT)]).runs_tripwires
    return Adapted(text, "junit_xml", command.targets, runs_tripwires)
