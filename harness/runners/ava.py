"""ava: every file of tests has its own process, so tripwires are appended to each. Its results are in its output."""

import random
import shlex
from collections.abc import Sequence

from assay.harness.domain import Status
from assay.harness.runners import javascript
from assay.harness.runners.base import Adapted, Tripwires, camel_name, read_sources
from assay.harness.runners.choosing import OPTIONS, read_choice
from assay.harness.runners.commands import part
from assay.harness.runners.node_test import SOURCE

NAME = "ava"
PRINTS = frozenset({Status.PASSED, Status.FAILED})
HEADS = {
    "module.mjs": '// @ts-ignore\nimport {test} from "ava";\n',
    "script.cjs": 'const {test} = require("ava").default || require("ava");\n',
}
"""Files that import, and files that require."""
PLACING = javascript.appending(SOURCE)
BODIES = (
    *read_sources(NAME)[1]["tests"],
    *((status, body) for status, body in javascript.ENDINGS if status is Status.FAILED),
)
OTHER_WORK = frozenset({"-w", "--watch", "debug", "reset-cache", "--version", "--help"})
LEFT_OUT = frozenset(
    {"-t", "--tap", "-v", "--verbose", "--fail-fast", "--no-color", "--color", "-u", "--update-snapshots"}
)
place_siblings = javascript.place_siblings


def tripwires(dice: random.Random) -> Tripwires:
    """Return tests that declare with the package itself."""
    test = camel_name(dice)
    made = javascript.make(dice, "", BODIES, declare=test)
    files = {name: head.replace("{test}", test) + made.files[""] for name, head in HEADS.items()}
    return Tripwires(files={name: f"\n{text}" for name, text in files.items()}, expected=made.expected)


def adapt(words: Sequence[str]) -> Adapted | None:
    command = part(words, NAME, OPTIONS[NAME].value_options)
    if command is None or command.has(OTHER_WORK):
        return None
    kept = command.without(LEFT_OUT)
    text = f"CI=true exec {shlex.join([*command.start, '--tap', *kept[len(command.start) :]])}"
    return Adapted(text, "", command.targets, read_choice(NAME, [kept]).runs_tripwires, log_format="tap")
