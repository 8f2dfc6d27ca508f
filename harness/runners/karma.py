"""Karma: all files run in one page, and /opt/assay/karma.conf.js adds one with the tripwires."""

import random
import shlex
from collections.abc import Sequence

from assay.harness.domain import Status
from assay.harness.runners import javascript
from assay.harness.runners.base import PLACEHOLDER, Adapted, Tripwires, snake_name
from assay.harness.runners.commands import part

NAME = "karma"
place_siblings = javascript.place_siblings
PRINTS = frozenset({Status.FAILED})
PLACING = javascript.OWN_FILE.replace("cjs", "js")
BODIES = (*javascript.ENDINGS, *javascript.CALLBACK, *javascript.LIBRARIES, *javascript.JASMINE[1:])


def tripwires(dice: random.Random) -> Tripwires:
    """Return tests for mocha or Jasmine, with the functions that the other files leave."""
    return javascript.make(dice, f"{snake_name(dice)}.js", BODIES, around=javascript.GROUP)


def adapt(words: Sequence[str]) -> Adapted | None:
    """Adapt ``karma start CONFIG``; other options, such as ``--grep``, are the configuration's."""
    command = part(words, "karma", ())
    if command is None or command.targets[:1] != ("start",) or len(command.targets) > 2:
        return None
    config = (*command.targets[1:], "karma.conf.js")[0]
    start = [*command.start, "start", "/opt/assay/karma.conf.js"]
    options = [word for each in command.arguments for word in each if word.startswith("-")]
    settings = f"ASSAY_REPORT={{report}} ASSAY_TRIPWIRES={PLACEHOLDER} ASSAY_KARMA={shlex.quote(config)}"
    return Adapted(f"{settings} exec {shlex.join([*start, *options])}", "jest_json", log_format="karma_text")
