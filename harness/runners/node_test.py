"""node's own runner: every file of tests has its own process, so tripwires are appended to each."""

import random
import shlex
from collections.abc import Sequence

from assay.harness.domain import Status
from assay.harness.runners import javascript
from assay.harness.runners.base import Adapted, Tripwires, camel_name
from assay.harness.runners.choosing import OPTIONS, read_choice
from assay.harness.runners.commands import part

NAME = "node_test"
PRINTS = frozenset({Status.PASSED, Status.FAILED})
HEADS = {
    "module.mjs": 'import {test} from "node:test";\nimport {checks} from "node:assert";\n',
    "script.cjs": 'const {test} = require("node:test");\nconst {checks} = require("node:assert");\n',
}
"""Files that import, and files that require."""
SOURCE = (
    'source=script.cjs; if grep -qE \'^(import[[:space:]{*"]|export[[:space:]])\' "$file"; then source=module.mjs; fi'
)
PLACING = javascript.appending(SOURCE)
CHECKS = (*javascript.ASSERT_OF_NODE, (Status.PASSED, f"() => {{{{ {javascript.ASSERT} }}}}"))
BODIES = (
    *javascript.ENDINGS,
    (Status.FAILED, '(context, done) => done(new Error("{number}"))'),
    javascript.EXPECT[-1],
    *javascript.LIBRARIES,
)

LEFT_OUT = frozenset({"--test-reporter", "--test-reporter-destination", "--watch", "--experimental-test-coverage"})
REPORTS = (
    "--test-reporter=tap --test-reporter-destination=stdout"
    " --test-reporter=junit --test-reporter-destination={reports}/junit.xml"
)
"""A file, since node 22 synchronises what it has written with the disk, which a pipe refuses."""
place_siblings = javascript.place_siblings


def tripwires(dice: random.Random) -> Tripwires:
    """Return tests that declare with what the file itself does, else with node's own, and check with node's assert."""
    test, checks = camel_name(dice), camel_name(dice)
    bodies = (*BODIES, *((status, body.replace("assert", checks)) for status, body in CHECKS))
    declare = f'typeof it === "function" ? it : typeof test === "function" ? test : {test}'
    made = javascript.make(dice, "", bodies, declare=declare)
    files = {name: head.format(test=test, checks=checks) + made.files[""] for name, head in HEADS.items()}
    return Tripwires(files={name: f"\n{text}" for name, text in files.items()}, expected=made.expected)


def adapt(words: Sequence[str]) -> Adapted | None:
    """Adapt ``node --test FILE...``, with patterns as a shell reads them."""
    command = part(words, OPTIONS[NAME].program, OPTIONS[NAME].value_options)
    if command is None or not command.has({"--test"}):
        return None
    kept = command.without(LEFT_OUT)
    options = shlex.join(word for word in kept[len(command.start) :] if word not in command.targets)
    text = " ".join(("mkdir -p {reports}\nexec", shlex.join(command.start), options, REPORTS, *command.targets))
    runs_tripwires = read_choice(NAME, [kept]).runs_tripwires
    return Adapted(text, "junit_xml", command.targets, runs_tripwires, log_format="tap")
