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
    DoubledFile,
    DoubledTest,
    Tripwires,
    camel_name,
    draw_numbers,
    read_placing,
    snake_name,
    title,
)

Body = tuple[Status, str]
"""Status that a test must have, and its function.

In the text, ``{number}`` and ``{other}`` differ, ``{sum}`` is that of all below ``{number}``, ``{given}`` is what
``expect`` returns or an empty object, and ``{holds}`` is a function that throws if one of those in its array does not
throw. Old compilers and type checks have to take it: no ``async``, no spread.
"""

PASSED, FAILED = Status.PASSED, Status.FAILED

ENDINGS: tuple[Body, ...] = (
    (
        PASSED,
        "() => {{ let sum = 0; for (let one = 0; one < {number}; one++) sum += one; if (sum !== {sum}) throw sum; }}",
    ),
    (FAILED, '() => {{ throw new Error("{number}"); }}'),
    (FAILED, '() => Promise.resolve().then(() => {{ throw new TypeError("{number}"); }})'),
    (FAILED, '() => Promise.reject(new RangeError("{number}"))'),
)
"""The ways in which a function can fail by itself, in every runner."""

CALLBACK: tuple[Body, ...] = ((FAILED, '(done) => done(new Error("{number}"))'),)

EXPECT: tuple[Body, ...] = (
    (FAILED, "() => {{ expect({number}).toBe({other}); }}"),
    (FAILED, "() => {{ expect(() => {number}).toThrow(); }}"),
    (FAILED, "() => expect(Promise.resolve({number})).rejects.toBe({number})"),
    (FAILED, "() => {{ expect.assertions(1); }}"),
    (
        PASSED,
        "() => {{ if (!('toBe' in {given})) return;"
        " expect({number} + 1 - 1).toBe({number}); expect({{ a: [{number}] }}).toEqual({{ a: [{number}] }});"
        " {holds}([() => expect({number}).toBe({other}), () => expect({number}).not.toBe({number}),"
        " () => expect([{number}]).toEqual([{other}]), () => expect({{ a: {number} }}).toStrictEqual({{ a: {other} }}),"
        " () => expect({{ a: {number} }}).toMatchObject({{ a: {other} }}),"
        " () => expect({{ a: {number} }}).toHaveProperty('b'),"
        " () => expect('{number}').toMatch(/x/), () => expect([{number}]).toContain({other}),"
        " () => expect([{{ a: {number} }}]).toContainEqual({{ a: {other} }}), () => expect([{number}]).toHaveLength(2),"
        " () => expect(0).toBeTruthy(), () => expect({number}).toBeFalsy(), () => expect({number}).toBeNull(),"
        " () => expect({number}).toBeUndefined(), () => expect(undefined).toBeDefined(),"
        " () => expect({number}).toBeNaN(), () => expect({number}).toBeInstanceOf(Map),"
        " () => expect({number}).toBeCloseTo({other}), () => expect({number}).toBeLessThan(1),"
        " () => expect({number}).toBeLessThanOrEqual(1), () => expect(1).toBeGreaterThan({number}),"
        " () => expect(1).toBeGreaterThanOrEqual({number}), () => expect(() => {number}).toThrow(),"
        " () => expect(() => {{ throw {number}; }}).not.toThrow()]); }}",
    ),
)
"""The expect of jest and vitest."""

CHAI = (
    "expect({number}).to.equal({number}); {holds}([() => expect({number}).to.equal({other}),"
    " () => expect({number}).to.not.equal({number}), () => expect([{number}]).to.eql([{other}]),"
    " () => expect({{ a: {number} }}).to.deep.equal({{ a: {other} }}), () => expect({number}).to.be.a('string'),"
    " () => expect([{number}]).to.include({other}), () => expect('{number}').to.match(/x/),"
    " () => expect([{number}]).to.have.length(2), () => expect({{}}).to.have.property('a'),"
    " () => expect(() => {number}).to.throw()]);"
)
"""The expect of chai, and of expect.js, which has most of it."""

ASSERT = (
    "assert.equal({number}, {number}); {holds}([() => assert.equal({number}, {other}),"
    " () => assert.strictEqual({number}, {other}), () => assert.deepEqual([{number}], [{other}]),"
    " () => assert.deepStrictEqual({{ a: {number} }}, {{ a: {other} }}), () => assert.ok(0),"
    " () => assert(0), () => assert.notEqual({number}, {number}), () => assert.notStrictEqual({number}, {number}),"
    " () => assert.throws(() => {number}), () => assert.match('{number}', /x/), () => assert.fail()]);"
)
"""The assert of node and of chai."""

JASMINE: tuple[Body, ...] = (
    (PASSED, "() => {{ expect({number} + 1 - 1).toBe({number}); }}"),
    (FAILED, "() => {{ expect({number}).toBe({other}); }}"),
    (FAILED, "() => {{ expect({number}).not.toBe({number}); }}"),
    (FAILED, "() => {{ expect([{number}]).toEqual([{other}]); }}"),
    (FAILED, "() => {{ expect('{number}').toMatch(/x/); }}"),
    (FAILED, "() => {{ expect([{number}]).toContain({other}); }}"),
    (FAILED, "() => {{ expect(0).toBeTruthy(); }}"),
    (FAILED, "() => {{ expect({number}).toBeFalsy(); }}"),
    (FAILED, "() => {{ expect({number}).toBeUndefined(); }}"),
    (FAILED, "() => {{ expect(() => {number}).toThrow(); }}"),
)
"""The expect of Jasmine, which does not throw."""

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


HOLDS = (
    "const holds = (each) => each.forEach((one, at) => {"
    " let failed = false; try { one(); } catch (error) { failed = true; }"
    " if (!failed) throw new Error(`number ${at} does not fail`); });"
)
"""Throws if one of several functions does not throw."""
GIVEN = (
    "const given = () => { try { const found = expect(1); return Object(found) === found ? found : {}; }"
    " catch (error) { return {}; } };"
)
"""Calls ``expect``; gives an empty object where there is no such function."""


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
