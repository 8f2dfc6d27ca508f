"""mocha: all files run in one process.

Tripwires are at the end of the files with expected tests, and in one of their own, loaded last by /opt/assay/mocha.js.
"""

import random

from assay.harness.domain import Status
from assay.harness.runners import javascript
from assay.harness.runners.base import Tripwires, not_known

NAME = "mocha"
PRINTS = frozenset({Status.PASSED, Status.FAILED})
PLACING = javascript.BOTH
SHARED = (*javascript.ENDINGS, *javascript.CALLBACK, *javascript.ASSERT_OF_NODE, *javascript.LIBRARIES)
HEAD = 'const assert = require("assert");\n'

adapt = not_known
place_siblings = javascript.place_siblings


def tripwires(dice: random.Random) -> Tripwires:
    """Return tests that declare with the globals that the other files leave, and the same for the files themselves."""
    return javascript.both(dice, (*SHARED, javascript.EXPECT[-1]), (*SHARED, javascript.CHAI_OF_NODE), HEAD)
