"""Tripwires in JavaScript, which jest, vitest, node:test, mocha, jasmine, karma and tape share."""

import random
import re
from collections.abc import Sequence
from dataclasses import replace

from assay.harness.domain import Siblings, Status
from assay.harness.languages.copying import CopiedFile, SourceTest, edit_text
from assay.harness.languages.javascript import SYNTAX
from assay.harness.runners.base import (
    HAS_EXPECTED,
    PLACE,
    Body,
    DoubledFile,
    DoubledTest,
    Tripwires,
    camel_name,
    draw_numbers,
    read_placing,
    read_sources,
    snake_name,
    title,
)

PASSED, FAILED = Status.PASSED, Status.FAILED

TEXTS, BODIES = read_sources("javascript")
ENDINGS, CALLBACK, EXPECT, JASMINE = (BODIES[group] for group in ("endings", "callback", "expect", "jasmine"))
CHAI, ASSERT, HOLDS, GIVEN = (TEXTS[name] for name in ("chai", "assert", "holds", "given"))


LIBRARIES: tuple[Body, ...] = (
    (PASSED, f"() => {{{{ if ('toBe' in {{given}} || !('to' in {{given}})) return; {CHAI} }}}}"),
    (PASSED, f"() => {{{{ if (typeof assert !== 'function' || !assert.equal) return; {ASSERT} }}}}"),
)
"""Assertion libraries that a file of tests may have loaded."""

CHAI_OF_NODE: Body = (
    PASSED,
    "async () => {{ let chai; try {{ chai = await import('chai'); }} catch (error) {{ return; }}"
    f" const {{{{ expect }}}} = chai.default || chai; {CHAI}"
    " {holds}([() => expect(false).to.be.true, () => expect(0).to.be.ok, () => expect({number}).to.be.null]); }}",
)
"""chai where a file of tripwires is a CommonJS module of its own, which nothing compiles."""
ASSERT_OF_NODE: tuple[Body, ...] = (
    (FAILED, "() => {{ assert.strictEqual({number}, {other}); }}"),
    (
        PASSED,
        "() => {{ if (typeof assert !== 'function' || typeof assert.strict !== 'function') return;"
        f" {ASSERT.replace('assert', 'assert.strict')} }}}}",
    ),
)
"""node's assert, if ``assert`` is that."""

OF_PATCH = read_placing("files_of_patch.sh")
"""Takes the files of the test patch, which hold the tests that have to be fixed, where a plan has no targets."""
APPENDING = read_placing("javascript.sh")
"""Appends tripwires to every file of expected tests, unless only some of its tests run."""
OWN_FILE = read_placing("javascript_own_file.sh")
"""Puts tripwires as a file of their own into the root folder."""


def appending(source: str) -> str:
    """Return the placing of sources that shell text chooses by setting ``$source``."""
    return HAS_EXPECTED + OF_PATCH + APPENDING.replace("@SOURCE@", source)


GROUP = (';\n// @ts-ignore\n(typeof describe === "function" ? describe : suite)("{group}", () => {{', "});")
"""Opening and closing of tests that run after those of other files."""
BLOCK = (";{{", "}")  # opening and closing of tests at the end of a file
DECLARE = 'typeof it === "function" ? it : test'


def both(
    dice: random.Random,
    at_ends: Sequence[Body],
    of_own: Sequence[Body],
    head: str,
    *,
    declare: str = DECLARE,
    around: tuple[str, str] = GROUP,
) -> Tripwires:
    """Return tripwires for the end of files and, under the same names, for a file of their own; BOTH places them.

    ``of_own`` has as many tests as ``at_ends``, with the same statuses; ``head`` goes before them.
    """
    name, state = f"{snake_name(dice)}.cjs", dice.getstate()
    ends = make(dice, "end.js", at_ends, declare=declare, around=around)
    dice.setstate(state)
    own = make(dice, name, of_own, head=head, declare=declare, around=around)
    return replace(own, files={**ends.files, **own.files})


BOTH = HAS_EXPECTED + APPENDING.replace("@SOURCE@", "source=end.js") + OWN_FILE


def make(
    dice: random.Random,
    name: str,
    bodies: Sequence[Body],
    *,
    head: str = "",
    declare: str = DECLARE,
    around: tuple[str, str] = BLOCK,
) -> Tripwires:
    """Return tripwires with names of their own, which TypeScript does not check.

    Args:
        head: goes before them, such as an import, ended by a line break.
        declare: expression of the function that declares a test.
        around: BLOCK for tests that are appended to a file, GROUP for a file of their own.
    """
    declares, holds, given = (lower_name(dice) for _ in range(3))
    lines = [f"const {declares} = {declare};", HOLDS.replace("holds", holds), GIVEN.replace("given", given)]
    expected = {}
    for status, body in dice.sample(bodies, len(bodies)):
        test = lower_name(dice) + PLACE
        filled = body.format(**draw_numbers(dice), holds=holds, given=f"{given}()")
        lines.append(f'{declares}("{title(dice, test)}", {filled});')
        expected[test] = status
    opening, closing = around[0].format(group=snake_name(dice)), around[1]
    block = "".join(f"// @ts-ignore\n{line}\n" for line in lines)
    return Tripwires(files={name: f"\n{head}{opening}\n{block}{closing}\n"}, expected=expected, argument=name)


def lower_name(dice: random.Random) -> str:
    name = camel_name(dice)
    return name[:1].lower() + name[1:]


_NAME = re.compile(r"(test[-_])?.*?((?:[-_.](?:test|tests|spec))?\.[cm]?[jt]sx?)$")
_TITLE = re.compile(r"""(["'`])(?:\\.|(?!\1)[^\\])*(?=\1\s*,\s*(?:async\b|function\b|\(|\{|[\w$]+\s*=>))""")
"""A title up to its last quote; what the test does follows."""


def place_siblings(files: Sequence[DoubledFile]) -> Siblings:
    """Return copies of files without their other tests; a drawn word ends the titles of the others."""
    texts, names, words = dict[str, str](), dict[str, str](), list[str]()
    for file in files:
        copied = CopiedFile.read("javascript", file.path, file.text, SYNTAX.copying)
        folder, slash, name = file.path.rpartition("/")
        known = _NAME.match(name)
        calls = [each for each in copied.tests if not each.table] if copied else []
        found = {test.label: call for test in file.tests if (call := _find_call(file, test, calls))}
        if not (known and found):
            continue
        words.append(f"@camel:{len(words)}@")
        path = f"{folder}{slash}{known[1] or ''}{words[-1]}{known[2]}"
        edits = [each.cut for each in calls if each not in found.values()]
        for call in dict.fromkeys(found.values()):
            words.append(f"@camel:{len(words)}@")
            edits.append(_lengthen_title(call, words[-1]))
            names |= {label: words[-1] for label, each in found.items() if each == call}
        texts[path] = edit_text(file.text, edits)
    return Siblings(files=texts, names=names, words=tuple(words), targets=tuple(texts))


def _find_call(file: DoubledFile, test: DoubledTest, calls: Sequence[SourceTest]) -> SourceTest | None:
    content = file.text.encode()
    begin = (call for call in calls if content[: call.first].count(b"\n") + 1 == test.first)
    return next((call for call in begin if test.name in call.source and _TITLE.search(call.source)), None)


def _lengthen_title(call: SourceTest, word: str) -> tuple[int, int, str]:
    title = _TITLE.search(call.source)
    end = call.first + len(call.source[: title.end() if title else 0].encode())
    return end, end, f" {word}"
