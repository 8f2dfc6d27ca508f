"""mocha: all files run in one process.

Tripwires are at the end of the files with expected tests, and in one of their own, loaded last by /opt/assay/mocha.js.
"""

import random
import shlex
from collections.abc import Sequence

from assay.harness.domain import Status
from assay.harness.runners import javascript
from assay.harness.runners.base import PLACEHOLDER, Adapted, Tripwires
from assay.harness.runners.choosing import OPTIONS, read_choice
from assay.harness.runners.commands import part

NAME = "mocha"
PRINTS = frozenset({Status.PASSED, Status.FAILED})
PLACING = javascript.BOTH
SHARED = (*javascript.ENDINGS, *javascript.CALLBACK, *javascript.ASSERT_OF_NODE, *javascript.LIBRARIES)
HEAD = 'const assert = require("assert");\n'

OTHER_WORK = frozenset(
    {"-w", "--watch", "--dry-run", "--list-files", "--list-reporters", "--version", "-V", "--inspect-brk"}
)
LEFT_OUT = frozenset(
    {"-R", "--reporter", "-O", "--reporter-option", "--reporter-options", "-b", "--bail", "-c", "--colors"}
)
LEFT_OUT |= frozenset(
    {"--color", "-C", "--no-colors", "--no-color", "-p", "--parallel", "-j", "--jobs", "--inspect", "-G"}
)
place_siblings = javascript.place_siblings


def tripwires(dice: random.Random) -> Tripwires:
    """Return tests that declare with the globals that the other files leave, and the same for the files themselves."""
    return javascript.both(dice, (*SHARED, javascript.EXPECT[-1]), (*SHARED, javascript.CHAI_OF_NODE), HEAD)


def adapt(words: Sequence[str]) -> Adapted | None:
    of_types = {"-p"} if any(word.endswith("ts-mocha") for word in words) else set()  # otherwise: in parallel
    command = part(words, OPTIONS[NAME].program, OPTIONS[NAME].value_options | of_types)
    if command is None or command.has(OTHER_WORK):
        return None
    kept = command.without(LEFT_OUT - of_types)
    start = shlex.join([*command.start, "--reporter", "/opt/assay/mocha.js", *kept[len(command.start) :]])
    text = f"ASSAY_REPORT={{report}} ASSAY_TRIPWIRES={PLACEHOLDER} exec {start}"
    runs_tripwires = read_choice(NAME, [kept]).runs_tripwires
    return Adapted(text, "jest_json", command.targets, runs_tripwires, log_format="mocha_text")
