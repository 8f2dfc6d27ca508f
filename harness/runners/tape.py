"""tape: all files run in one process.

Tripwires are at the end of the files with expected tests, and in one of their own, loaded last by /opt/assay/tape.js.
"""

import random

from assay.harness.domain import Status
from assay.harness.runners import javascript
from assay.harness.runners.base import Tripwires, not_known

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

adapt = not_known
place_siblings = javascript.place_siblings


def tripwires(dice: random.Random) -> Tripwires:
    """Return tests that declare with the package itself, for the end of files and for a file of their own."""
    return javascript.both(dice, BODIES, BODIES, "", declare='require("tape")', around=javascript.BLOCK)
