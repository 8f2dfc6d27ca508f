"""vitest: every file of tests has its own globals, so tripwires are appended to each."""

import random
import shlex
from collections.abc import Sequence

from assay.harness.domain import Status
from assay.harness.runners import commands, javascript
from assay.harness.runners.base import Adapted, Tripwires, camel_name
from assay.harness.runners.choosing import OPTIONS, read_choice

NAME = "vitest"
place_siblings = javascript.place_siblings
PRINTS = frozenset({Status.PASSED, Status.FAILED})
PLACING = javascript.appending("source=vitest.ts")
BODIES = (*javascript.ENDINGS, *javascript.EXPECT, *javascript.LIBRARIES)


OTHER_WORK = frozenset({"watch", "dev", "bench", "list", "init", "related", "-w", "--watch", "--ui", "--version"})
NO_WATCH = ("--watch=false", "--watchAll=false", "--no-watch")
LEFT_OUT = frozenset({"--reporter", "--outputFile", "--bail", "--silent", "--coverage", "--coverage.enabled"})


def tripwires(dice: random.Random) -> Tripwires:
    """Return tests that declare with what the file itself does, else with vitest's own, and expect likewise."""
    own = camel_name(dice)
    declare = f'typeof it === "function" ? it : typeof test === "function" ? test : {own}'
    head = f'// @ts-ignore\nimport {{ test as {own} }} from "vitest";\n'
    return javascript.make(dice, "vitest.ts", BODIES, head=head, declare=declare)


def adapt(words: Sequence[str]) -> Adapted | None:
    kept = [word for word in words if word not in NO_WATCH]
    command = commands.part(kept, "vitest", OPTIONS[NAME].value_options)
    if not command or command.has(OTHER_WORK):
        return None
    options = "--bail=0 --reporter=json --reporter=verbose --outputFile={report}"
    text = f"CI=true NO_COLOR=1 exec {shlex.join(command.without(LEFT_OUT))} {options}"
    targets = tuple(each for each in command.targets if each != "run")
    runs_tripwires = read_choice(NAME, [command.without(LEFT_OUT)]).runs_tripwires
    return Adapted(text, "jest_json", targets, runs_tripwires)
