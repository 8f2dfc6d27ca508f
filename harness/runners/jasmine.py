"""Jasmine: all files run in one process.

Tripwires are at the end of the files with expected tests, and in one of their own, which /opt/assay/jasmine.js adds.
"""

import random
import shlex
from collections.abc import Sequence

from assay.harness.domain import Status
from assay.harness.runners import javascript
from assay.harness.runners.base import PLACEHOLDER, Adapted, Tripwires
from assay.harness.runners.commands import part

NAME = "jasmine"
place_siblings = javascript.place_siblings
PRINTS = frozenset({Status.FAILED})
KNOWN = ("--config", "--no-color", "--color", "--random=false")
PLACING = javascript.BOTH
BODIES = (*javascript.ENDINGS, *javascript.CALLBACK, *javascript.JASMINE, *javascript.ASSERT_OF_NODE)
HEAD = 'const assert = require("assert");\n'


def tripwires(dice: random.Random) -> Tripwires:
    """Return tests that declare with the globals that the other files leave, and the same for the files themselves."""
    return javascript.both(dice, BODIES, BODIES, HEAD)


def adapt(words: Sequence[str]) -> Adapted | None:
    command = part(words, "jasmine", {"--config"})
    if command is None or any(each[0].startswith("-") and not each[0].startswith(KNOWN) for each in command.arguments):
        return None
    given = [each[-1].partition("=")[2] or each[-1] for each in command.arguments if each[0].startswith("--config")]
    config = (given or ["spec/support/jasmine.json"])[-1]
    files = shlex.join((config, *command.targets))
    text = f"ASSAY_TRIPWIRES={PLACEHOLDER} exec node /opt/assay/jasmine.js {{report}} {files}"
    return Adapted(text, "jest_json", command.targets, log_format="jasmine_text")
