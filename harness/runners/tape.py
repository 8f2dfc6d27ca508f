"""tape: all files run in one process.

Tripwires are at the end of the files with expected tests, and in one of their own, loaded last by /opt/assay/tape.js.
"""

import random
import shlex
from collections.abc import Sequence

from assay.harness.domain import Status
from assay.harness.runners import javascript
from assay.harness.runners.base import PLACEHOLDER, Adapted, Tripwires
from assay.harness.runners.choosing import OPTIONS
from assay.harness.runners.commands import part

NAME = "tape"
PRINTS = frozenset({Status.PASSED, Status.FAILED})
PLACING = javascript.BOTH
BODIES: tuple[javascript.Body, ...] = (
    (
        Status.PASSED,
        "(t) => {{ let sum = 0; for (let one = 0; one < {number}; one++) sum += one; t.equal(sum, {sum}); t.end(); }}",
    ),
    (
        Status.PASSED,
        "(t) => {{ t.plan(2); t.deepEqual([{number}], [{number}]); t.throws(() => {{ throw {number}; }}); }}",
    ),
    *(
        (Status.FAILED, f"(t) => {{{{ {check}; t.end(); }}}}")
        for check in (
            *("t.equal({number}, {other})", "t.notEqual({number}, {number})", "t.ok(0)", "t.notOk({number})"),
            *("t.deepEqual([{number}], [{other}])", "t.notDeepEqual([{number}], [{number}])", "t.fail()"),
            *("t.throws(() => {number})", "t.doesNotThrow(() => {{ throw {number}; }})", "t.error(new Error())"),
        )
    ),
    (Status.FAILED, "(t) => {{ t.plan(2); t.ok({number}); t.end(); }}"),
    (Status.FAILED, '(t) => t.end(new Error("{number}"))'),
)
"""What a test throws ends the whole process, so none of these does."""

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
