"""Tripwires of Maven and Gradle: classes of tests in Java and in Kotlin, for the frameworks that tests import.

They name the framework's classes as the test file beside them does. Where that imports a whole package, a class or a
function of the project's own in the same package would stand in for the framework's, and for the tripwires' too.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from string import Template

from assay.harness.domain import Siblings, Status
from assay.harness.runners.base import PLACE, Body, DoubledFile, Tripwires, camel_name, read_placing, read_sources
from assay.harness.runners.templates import draw, fill
from assay.harness.templates import read_table


@dataclass(frozen=True, slots=True)
class Framework:
    """How a framework's tests are written in one language."""

    test: str
    """What marks a test."""
    throwing: str
    """What marks one that must throw."""
    throws: str
    """Body of such a test, which does."""
    does_not: str
    """Body of one that does not."""
    base: str = ""
    """What the class extends."""
    fail: str = "fail"


HELPERS = "total same none"


@dataclass(frozen=True, slots=True)
class ClassTemplate:
    head: str
    bodies: Sequence[Body]
    frameworks: Mapping[str, Framework]


def _read_class(language: str) -> ClassTemplate:
    texts, bodies = read_sources("jvm")
    frameworks = read_table(__file__, "tripwires/jvm_frameworks.toml")[language]
    test = texts[f"{language}_test"]
    return ClassTemplate(
        texts[f"{language}_class"],
        [
            *((status, test % body) for status, body in bodies[language]),
            *((status, test.replace("$test", "$throwing") % body) for status, body in bodies[f"{language}_throwing"]),
        ],
        {name: Framework(**words) for name, words in frameworks.items()},
    )


LANGUAGES = {"java": _read_class("java"), "kt": _read_class("kotlin")}
"""Suffix of a file to the template of its language."""

_PLACING = read_placing("jvm.sh")
PLACING_MAVEN, PLACING_GRADLE = f"tool=maven\n{_PLACING}", f"tool=gradle\n{_PLACING}"
"""Surefire and Gradle start a process for each module. Its first test file with expected tests shows the framework.

Kotlin's own assertions have a set beside that, and so has each package whose tests import all of a framework. Modules
that the build or the command leaves out have none.
"""


def tripwires(dice: random.Random) -> Tripwires:
    """Return the same class for every framework and language; in a name of a class, ``*`` stands for its place."""
    name, seed = camel_name(dice), dice.random()
    files: dict[str, str] = {}
    expected: dict[str, Status] = {}
    for suffix, written in LANGUAGES.items():
        for framework, words in written.frameworks.items():
            same = random.Random(seed)
            given = {**asdict(words), "class": f"{name}{PLACE}Test"}
            bodies = [(status, _replace(body, given)) for status, body in written.bodies]
            wires = draw(same, bodies, lambda dice: f"test{camel_name(dice)}{PLACE}")
            text = _replace(written.head, given) + "".join(wire.source for wire in wires) + "}\n"
            files[f"{framework}.{suffix}"] = fill(same, text, HELPERS)
            expected |= {wire.name: wire.status for wire in wires}
    return Tripwires(files, expected, f"{name}*Test")


def place_siblings(files: Sequence[DoubledFile]) -> Siblings:
    """Return copies of classes; Maven runs single methods of them."""
    texts, names, words, argument = dict[str, str](), dict[str, str](), list[str](), ""
    for file in files:
        folder, slash, name = file.path.rpartition("/")
        stem, dot, suffix = name.partition(".")
        lines, methods = file.text.split("\n"), dict[int, str]()
        for test in (each for each in file.tests if each.name == f"{stem}.{each.own_name}"):
            if test.first not in methods:
                methods[test.first] = f"test@camel:{len(words)}@"
                words.append(methods[test.first])
                source = "\n".join(lines[test.first - 1 : test.last])
                source = re.sub(rf"\b{test.own_name}(?=\s*\()", methods[test.first], source, count=1)
                lines[test.first - 1 : test.last] = source.split("\n")
            names[test.label] = methods[test.first] + test.tail
        if methods:
            words.append(f"@camel:{len(words)}@Test")
            texts[f"{folder}{slash}{words[-1]}{dot}{suffix}"] = re.sub(rf"\b{stem}\b", words[-1], "\n".join(lines))
            argument += f",{words[-1]}#{'+'.join(methods.values())}"
    return Siblings(files=texts, names=names, words=tuple(words), argument=argument)


def _replace(text: str, words: Mapping[str, str]) -> str:
    return Template(Template(text).safe_substitute(words)).safe_substitute(words)
