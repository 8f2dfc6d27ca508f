"""tape: all files run in one process.

Tripwires are at the end of the files with expected tests, and in one of their own, loaded last by /opt/assay/tape.js.
"""

import random
import shlex
from collections.abc import Sequence

from assay.harness.domain import Status
from assay.harness.runners import javascript
from assay.harness.runners.base import PLACEHOLDER, Adapted, Tripwires, read_sources
from assay.harness.runners.choosing import OPTIONS
from assay.harness.runners.commands import part

NAME = "tape"
PRINTS = frozenset({Status.PASSED, Status.FAILED})
PLACING = javascript.BOTH
BODIES = read_sources(NAME)[1]["tests"]

place_siblings = javascript.place_siblings


def tripwires(dice: random.Random) -> Tripwires:
    """Return tests that declare with the package itself, for the end of files and for a file of their own."""
    return javascript.both(dice, BODIES, BODIES, "", declare='require("tape")', around=javascript.BLOCK)


def adapt(words: Sequence[str]) -> Adapted | None:
    """Adapt ``tape -r MODULE FILE...``, with patterns as a shell reads them."""
    command = part(words, OPTIONS[NAME].program, OPTIONS[NAME].value_options)
    options = [] if command is None else [each for each in command.arguments if each[0].startswith("-")]
    if command is None or any(each[0].partition("=")[0] not in {"-r", "--require"} for each in options):
        return None
    required = shlex.join(word for each in options for word in each)
    start = f"ASSAY_TRIPWIRES={PLACEHOLDER} exec node {required}".rstrip()
    return Adapted(
        " ".join((start, "/opt/assay/tape.js", "{report}", *command.targets)),
        "jest_json",
        command.targets,
        log_format="tap",
    )
