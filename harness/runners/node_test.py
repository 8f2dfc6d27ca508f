"""node's own runner: every file of tests has its own process, so tripwires are appended to each."""

import random

from assay.harness.domain import Status
from assay.harness.runners import javascript
from assay.harness.runners.base import Tripwires, camel_name, not_known

NAME = "node_test"
PRINTS = frozenset({Status.PASSED, Status.FAILED})
HEADS = {
    "module.mjs": 'import {test} from "node:test";\nimport {checks} from "node:assert";\n',
    "script.cjs": 'const {test} = require("node:test");\nconst {checks} = require("node:assert");\n',
}
"""Files that import, and files that require."""
PLACING = javascript.appending(
    'source=script.cjs; if grep -qE \'^(import[[:space:]{*"]|export[[:space:]])\' "$file"; then source=module.mjs; fi'
)
CHECKS = (*javascript.ASSERT_OF_NODE, (Status.PASSED, f"() => {{{{ {javascript.ASSERT} }}}}"))
BODIES = (
    *javascript.ENDINGS,
    (Status.FAILED, '(context, done) => done(new Error("{number}"))'),
    javascript.EXPECT[-1],
    *javascript.LIBRARIES,
)

adapt = not_known
place_siblings = javascript.place_siblings


def tripwires(dice: random.Random) -> Tripwires:
    """Return tests that declare with what the file itself does, else with node's own, and check with node's assert."""
    test, checks = camel_name(dice), camel_name(dice)
    bodies = (*BODIES, *((status, body.replace("assert", checks)) for status, body in CHECKS))
    declare = f'typeof it === "function" ? it : typeof test === "function" ? test : {test}'
    made = javascript.make(dice, "", bodies, declare=declare)
    files = {name: head.format(test=test, checks=checks) + made.files[""] for name, head in HEADS.items()}
    return Tripwires(files={name: f"\n{text}" for name, text in files.items()}, expected=made.expected)
