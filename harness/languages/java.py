"""Java, with Maven or Gradle."""

import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import PurePosixPath

from assay.harness.languages.base import (
    anywhere,
    drop_patterns,
    folders,
    has_name,
    list_dotted_names,
    no_mistake,
)
from assay.harness.languages.grammars import read_lines, read_syntax
from assay.harness.languages.manifests import maven_part
from assay.harness.templates import read_program

NAME = "java"
ALIASES: frozenset[str] = frozenset()
SUFFIXES = frozenset({".java"})
DOCKERFILES = "java"
GRAMMAR = "tree_sitter_java:language"
SYNTAX = read_syntax(NAME)
LINES = read_lines(NAME)
TEST_SIGN = r"@\w*Test\b|\bextends\s+TestCase\b"
TEST_NAME = ""  # labels always name the class
SURE_NAME = r"(?:[a-z_]\w*\.)+([A-Z]\w*)(?:[$#. ].*)?"
LOOKS_AROUND = (
    r"\b(?:StackTraceElement|getStackTrace|StackWalker|junit|testng|surefire|sun\.java\.command"
    r"|ProcessHandle)\b"
)
INTERPRETER = ""
RUN_MAVEN = read_program(__file__, "scripts/maven.sh")
"""Runs ``@MAVEN@`` with the arguments of the shell.

Every module writes its own reports; older ones are deleted first. Properties on the command line override those of
the project. Modules are tested although one that they need has failed tests, as it has with tripwires; what Maven
prints decides the exit status.
"""
TEST_COMMAND = """\
set -- {files}
[ "$#" -eq 0 ] || set -- "$@" {tripwires}
[ "$#" -eq 0 ] || set -- "-Dtest=$(IFS=,; echo "$*")"
""" + RUN_MAVEN.replace("@MAVEN@", "mvn")
DEFAULT_REPORT = "junit_xml"
DEFAULT_LOG = "maven_text"
DEFAULT_ID = "method"
DEFAULT_RUNNER = "maven"
FINISHED = frozenset({0, 1})
PROJECT_FILES: tuple[str, ...] = ("pom.xml", "build.gradle", "build.gradle.kts")
VERSION_KEYS: tuple[str, ...] = ("java-version", "jdk", "java", "jdk-version", "java_version")
LEAST_VERSION = ("", "")
MANIFESTS: tuple[str, ...] = (
    *("pom.xml", ".mvn/*"),
    *("*.gradle", "*.gradle.kts", "gradle.properties", "gradle.lockfile"),
    *("*.versions.toml", "gradle-wrapper.properties", "maven-wrapper.properties"),
)
MISSING_PACKAGE = r"Cannot access .* in offline mode|No cached version of .* available for offline mode"
OUTPUTS = (
    *("target/classes/*", "target/test-classes/*", "target/*-reports/*", "target/maven-status/*"),
    *("build/classes/*", "build/resources/*", "build/libs/*", "build/test-results/*", "build/tmp/*"),
    *(".gradle/*", "*.class"),
)
BUILD_PRODUCTS: tuple[str, ...] = anywhere(*OUTPUTS, *(each.removesuffix("/*") for each in OUTPUTS))
"""Named by folders below ``target`` and ``build``, since packages can have these two names."""

TEST_NAMES = re.compile(r"\w+(Tests?|TestCase|IT|Spec)\.(java|kt|groovy)")
CONFIGURATION = (
    *("pom.xml", "build.xml", "*.ant.xml", "ivy.xml", "mvnw", "mvnw.cmd", "gradlew", "gradlew.bat"),
    *("*.gradle", "*.gradle.kts", "*.gradle.dcl", "gradle.properties", "gradle.lockfile", "*.versions.toml"),
    "*-wrapper.properties",
    *("junit-platform.properties", "testng.xml"),  # extensions that are loaded automatically; the list of tests
)
STEERING_NAMES: frozenset[str] = drop_patterns(*CONFIGURATION) | {"gradle", ".mvn", "buildSrc", "build-logic"}
STEERING = re.compile(
    r"^gradle(/|$)|(^|/)(\.mvn|buildSrc|build-logic)(/|$)"  # further build logic
    r"|META-INF/services/org\.(junit|testng|spockframework)\."  # registers listeners of the runner
    r"|META-INF/services/javax\.annotation\.processing\."  # code that the compiler runs, inside Maven itself
)
"""Matches a whole path."""
SHADOWS = re.compile(
    r"(?:^|/)(?:org/junit|junit/framework|org/testng|org/hamcrest|org/apache/maven/surefire"
    r"|org/assertj|org/mockito|org/easymock|org/awaitility|org/spockframework|com/google/common/truth)/"
)
_HASH = re.compile(r"(?<=[\w$;])@[0-9a-f]{5,8}\b")
SOURCE_NAMES = ""


def is_test_file(path: str) -> bool:
    # Build tools name the source sets (``src/test``, ``src/integrationTest``, ``src/jvmMain``); elsewhere the name of
    # the class decides. A folder ``test`` or ``tests`` counts above the package only: packages with these names are
    # shipped.
    inside = folders(path)
    sets = [below for above, below in pairwise(inside) if above == "src"]
    if any(name.startswith("test") or "Test" in name for name in sets):
        return True
    if inside[:1] in {("test",), ("tests",)} or any(name.startswith("test-") for name in inside[:2]):
        return True
    of_source = any(name == "main" or name.endswith("Main") for name in sets)
    return not of_source and TEST_NAMES.fullmatch(PurePosixPath(path).name) is not None


def runner_config(path: str) -> bool:
    return has_name(path, CONFIGURATION) or STEERING.search(path) is not None or bool(stands_in(path))


def steering_part(path: str, text: str) -> str:
    """Return a Maven project without its name, modules, and ordinary properties and dependencies."""
    return maven_part(text) if has_name(path, ["pom.xml"]) else text


def stands_in(path: str) -> str:
    """Return the folder of a runner's package: a project's classes precede those of libraries."""
    found = SHADOWS.search(path) if path.endswith((".java", ".kt", ".groovy")) else None
    return path[: found.end()] if found else ""


def test_targets(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the simple names of the classes in test files: every version of every runner accepts them."""
    tests = (path for path in paths if is_test_file(path) and may_hold_tests(path))
    return tuple(dict.fromkeys(PurePosixPath(path).stem for path in tests))


def may_hold_tests(path: str) -> bool:
    """Return whether a test file can be one with classes, by its suffix, and is none of the tests' data."""
    if not path.endswith((".java", ".kt", ".groovy")) or "resources" in folders(path):
        return False
    return not has_name(path, ["package-info.*", "module-info.*"])


def places(path: str, text: str) -> Iterable[str]:  # noqa: ARG001 - the Protocol names it
    return list_dotted_names(path)


mistake = no_mistake


def normalise(test_id: str) -> str:
    """Return the id without the hash codes of parameters without ``toString``."""
    return _HASH.sub("", test_id)
