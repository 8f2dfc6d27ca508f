"""Kotlin on the JVM: Java's build tools and risks; a file's name says nothing about the classes in it."""

import re
from collections.abc import Iterable, Iterator
from itertools import takewhile

from assay.harness.languages import java
from assay.harness.languages.base import (
    anywhere,
    folders,
    has_name,
    list_dotted_names,
)
from assay.harness.languages.grammars import read_lines, read_syntax

NAME = "kotlin"
ALIASES = frozenset({"kt"})
SUFFIXES = frozenset({".kt", ".kts"})
DOCKERFILES = "java"
GRAMMAR = "tree_sitter_kotlin:language"
SYNTAX = read_syntax(NAME)
LINES = read_lines(NAME)
TEST_SIGN = (
    r"@\w*Test\b|:\s*(?:Annotation|Behavior|Describe|Expect|Feature|Free|Fun|Should|String|Word)Spec\b|:\s*TestCase\b"
)
TEST_NAME = java.TEST_NAME
SURE_NAME = java.SURE_NAME
LOOKS_AROUND = java.LOOKS_AROUND
INTERPRETER = ""
TOP_LEVEL = r"^((@[A-Za-z0-9_.]+(\([^)]*\))?|[a-z]+) +)*(class|object) +([A-Za-z0-9_]+)"
"""A class without indentation, in the words that sed and Python share."""
TEST_COMMAND = (
    rf"""
set -- {{files}}
[ "$#" -eq 0 ] || set -- $(sed -nE 's/{TOP_LEVEL}.*/\5/p' "$@" | sort -u) {{tripwires}}
[ "$#" -eq 0 ] || set -- "-Dtest=$(IFS=,; echo "$*")"
""".lstrip()
    + java.RUN_MAVEN.replace("@MAVEN@", "mvn")
)
DEFAULT_REPORT = java.DEFAULT_REPORT
DEFAULT_LOG = java.DEFAULT_LOG
DEFAULT_ID = java.DEFAULT_ID
DEFAULT_RUNNER = java.DEFAULT_RUNNER
FINISHED = java.FINISHED
PROJECT_FILES: tuple[str, ...] = java.PROJECT_FILES
VERSION_KEYS: tuple[str, ...] = java.VERSION_KEYS
LEAST_VERSION = java.LEAST_VERSION
MANIFESTS: tuple[str, ...] = java.MANIFESTS
MISSING_PACKAGE = java.MISSING_PACKAGE
CACHES = ("target/kotlin-ic", ".kotlin", "build/kotlin")
BUILD_PRODUCTS: tuple[str, ...] = (*java.BUILD_PRODUCTS, *anywhere(*CACHES, *(f"{each}/*" for each in CACHES)))

TEST_FOLDERS = re.compile(r"tests?|test(Data|Fixtures)|[a-z]\w*Tests?")
"""Source sets and folders of tests, where no folder ``src`` is above: ``core/jvm/test``, ``core/commonTest/src``."""
CONFIGURATION = ("kotest.properties",)
STEERING_NAMES: frozenset[str] = java.STEERING_NAMES | {*CONFIGURATION}
STEERING = re.compile(
    r"META-INF/services/(io\.kotest\.|kotlin\.test\.)"
    r"|META-INF/services/(org\.jetbrains\.kotlin\.|com\.google\.devtools\.ksp\.)"  # code that the compiler runs
)
SHADOWS = re.compile(r"(?:^|/)(?:kotlin/test|io/kotest|io/mockk|strikt)/")
SOURCE_NAMES = ""


def is_test_file(path: str) -> bool:
    """Return whether a file belongs to the tests, in Maven's and Gradle's layout, and in that of kotlinx."""
    above = takewhile(lambda name: name != "src", folders(path))
    return any(TEST_FOLDERS.fullmatch(name) for name in above) or java.is_test_file(path)


def runner_config(path: str) -> bool:
    own = has_name(path, CONFIGURATION) or STEERING.search(path) is not None
    return own or bool(stands_in(path)) or java.runner_config(path)


steering_part = java.steering_part


def stands_in(path: str) -> str:
    """Return the folder of a runner's package. Kotlin lets any file be of any package: tripwires notice the others."""
    found = SHADOWS.search(path) if path.endswith((".java", ".kt")) else None
    return path[: found.end()] if found else java.stands_in(path)


def test_targets(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the test files: which classes they hold, the test command looks up."""
    return tuple(dict.fromkeys(path for path in paths if is_test_file(path) and java.may_hold_tests(path)))


def places(path: str, text: str) -> Iterator[str]:
    """Yield the file's name and the names of its classes, with all, some or none of the package."""
    yield from list_dotted_names(path)
    package = re.search(r"^package ([\w.]+)", text, re.MULTILINE)
    for found in re.finditer(TOP_LEVEL, text, re.MULTILINE):
        yield found[5]
        if package:
            yield f"{package[1]}.{found[5]}"


mistake = java.mistake
normalise = java.normalise
