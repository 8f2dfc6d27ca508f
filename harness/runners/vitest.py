"""vitest: every file of tests has its own globals, so tripwires are appended to each."""

import random
import shlex
from collections.abc import Sequence

from assay.harness.domain import Status
from assay.harness.runners import commands, javascript
from assay.harness.runners.base import Adapted, Tripwires, camel_name

NAME = "vitest"
place_siblings = javascript.place_siblings
PRINTS = frozenset({Status.PASSED, Status.FAILED})
PLACING = javascript.appending("source=vitest.ts")
BODIES = (*javascript.ENDINGS, *javascript.EXPECT, *javascript.LIBRARIES)


WITH_VALUE = frozenset({"-t", "--testNamePattern", "-c", "--config", "-r", "--root", "--dir", "--project"})
SELECTS = frozenset({"-t", "--testNamePattern"})
OTHER_WORK = frozenset({"watch", "dev", "bench", "list", "init", "related", "-w", "--watch", "--ui", "--version"})
LEFT_OUT = frozenset({"--reporter", "--outputFile", "--bail", "--silent"})


def tripwires(dice: random.Random) -> Tripwires:
    """Return tests that declare with what the file itself does, else with vitest's own, and expect likewise."""
    own = camel_name(dice)
    declare = f'typeof it === "function" ? it : typeof test === "function" ? test : {own}'
    head = f'// @ts-ignore\nimport {{ test as {own} }} from "vitest";\n'
    return javascript.make(dice, "vitest.ts", BODIES, head=head, declare=declare)


def adapt(words: Sequence[str]) -> Adapted | None:
    command = commands.part(words, "vitest", WITH_VALUE)
    if not command or command.has(OTHER_WORK):
        return None
    options = "--bail=0 --reporter=json --reporter=verbose --outputFile={report}"
    text = f"CI=true NO_COLOR=1 exec {shlex.join(command.without(LEFT_OUT))} {options}"
    targets = tuple(each for each in command.targets if each != "run")
    return Adapted(text, "jest_json", targets, not command.has(SELECTS))
