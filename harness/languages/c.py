"""C, with CMake and ctest; recipes serve suites of Make and autotools."""

import re
from collections.abc import Iterable
from posixpath import normpath

from assay.harness.languages.base import (
    anywhere,
    drop_patterns,
    folders,
    has_name,
    no_mistake,
    no_places,
    no_stand_in,
    parts,
)
from assay.harness.languages.grammars import read_lines, read_syntax
from assay.harness.languages.manifests import sources_part
from assay.harness.templates import read_program

NAME = "c"
ALIASES: frozenset[str] = frozenset()
SUFFIXES = frozenset({".c", ".h"})  # C++ has headers with the suffix ``.h`` too
DOCKERFILES = "c"
GRAMMAR = "tree_sitter_c:language"
SYNTAX = read_syntax(NAME)
LINES = read_lines(NAME)
TEST_SIGN = r"\bTEST\w*\s*\(|\bint\s+main\s*\("
TEST_NAME = (
    r"\bTEST\w*\s*\(\s*(?:(\w+)\s*,\s*)?(\w+)|\bTEST_CASE\w*\s*\(\s*\"([^\"\n]+)\""
    r"|^\s*test\s+(?:\{([^}\n]+)\}|\"([^\"\n]+)\")"
)
SURE_NAME = ""
LOOKS_AROUND = (
    r"/proc/self|\b(?:program_invocation(?:_short)?_name|backtrace\w*|__builtin_(?:return|frame)_address"
    r"|dlsym|gtest\w*)\b"
)
INTERPRETER = ""
BUILD = "assay-build"  # build folder; a name that no repository uses, while some keep sources in ``build``
SHORTENED = r"""awk '/\[ +(RUN|OK|FAILED|SKIPPED|DISABLED) +\]|^ +Start |Test +#/ || (shown += length) < 4000000'"""
"""A command that shows all results in the output of ``ctest -V``, and 4 MB of the rest."""
TEST_COMMAND = read_program(__file__, "scripts/ctest.sh", BUILD=BUILD, SHORTENED=SHORTENED)
"""GoogleTest writes its own reports, since ctest may see all its tests as one. A file without a count of failures is
only GoogleTest's list of tests, and no evidence."""
DEFAULT_REPORT = "junit_xml"
DEFAULT_LOG = "ctest_programs_text"
DEFAULT_ID = "dot"
DEFAULT_RUNNER = "googletest"
FINISHED = frozenset({0, 1, 2, 8})  # ctest exits with 8 after failed tests, and make with 2
PROJECT_FILES: tuple[str, ...] = ("CMakeLists.txt", "meson.build", "configure.ac", "configure", "Makefile")
VERSION_KEYS: tuple[str, ...] = ()
LEAST_VERSION = ("", "")
MANIFESTS: tuple[str, ...] = ()  # empty: libraries are Debian packages, which recipes name
MISSING_PACKAGE = ""
BUILD_PRODUCTS: tuple[str, ...] = (
    *(BUILD, f"{BUILD}/*"),
    *("*.o", "*.lo", "*.a", "*.la", "*.so", "*.so.*", "*.gch", "*.pch"),
    *anywhere("CMakeCache.txt", "CMakeFiles", "CMakeFiles/*", "CTestTestfile.cmake"),
)
"""Compilers use an object that is newer than its source, and a precompiled header instead of the header."""

TEST_FOLDERS = re.compile(
    r"(unit|self|regress|fuzz|integration)?[_-]?tests?|testing|testsuite|testdata|t", re.IGNORECASE
)
TEST_NAMES = re.compile(r"tests?[_\-].+\.\w+|.+[_\-.](unit)?tests?\.\w+|run[_\-]?tests?(\.\w+)?")
TOP_NAMES = re.compile(r"tests?\.\w+")
EVERYWHERE = (
    *("*.cmake", "CMakeLists.txt", "CTestConfig.*", "CMakePresets.json", "CMakeUserPresets.json"),
    *("*.m4", "*.mk", "*.am", "Makefile", "makefile", "GNUmakefile", "Makefile.*"),
    *("meson.build", "BUILD", "BUILD.bazel", "SConscript"),
    *("cmocka*.[ch]", "unity.[ch]", "unity_*.[ch]", "munit.[ch]", "greatest.h", "minunit.h", "acutest.h", "utest.h"),
    *("catch*.hpp", "doctest*.h", "lest*.hpp"),
)
"""Build files, and frameworks of tests that projects keep a copy of."""
AT_THE_TOP = (
    *("configure", "configure.*", "meson_options.txt", "meson.options", "WORKSPACE*", "MODULE.bazel", "SConstruct"),
    *("build.sh", "autogen.sh", "bootstrap", "bootstrap.sh", "wscript", "conanfile.*", "vcpkg.json"),
)
FRAMEWORKS = frozenset({"gtest", "gmock", "googletest"})
STEERING_NAMES: frozenset[str] = drop_patterns(*EVERYWHERE) - {"BUILD"} | FRAMEWORKS
"""bazel's ``BUILD`` is left out: many projects make a folder ``build``."""
_DURATION = re.compile(r"\s+\(?\d+(\.\d+)?\s?(ms|s|sec)\)?$")
SOURCE_NAMES = r".*\.(c|h|cc|cpp|cxx|hh|hpp|hxx|inl)"


def is_test_file(path: str) -> bool:
    """Return whether a file belongs to the tests: by its folder at any depth, or by its name.

    ``test.c`` does in the root folder only: deeper down, it may be a program of that name.
    """
    if any(map(TEST_FOLDERS.fullmatch, folders(path))) or TOP_NAMES.fullmatch(path):
        return True
    return TEST_NAMES.fullmatch(path.rpartition("/")[2]) is not None


def runner_config(path: str) -> bool:
    """Return whether a file decides what is built and run as the tests.

    Build files are programs, and any of them can redefine a test. They also list the sources: a patch that adds a
    source, where the gold patch does not change the list, does not build, and a flag of the verdict says why. A folder
    named like a test framework would be searched for headers before the real one.
    """
    if has_name(path, EVERYWHERE) or FRAMEWORKS & set(parts(path)):
        return True
    return not folders(path) and has_name(path, AT_THE_TOP)


def test_targets(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the test files, for recipes that run part of the suite; ctest itself runs everything."""
    return tuple(dict.fromkeys(filter(is_test_file, paths)))


places = no_places


def steering_part(path: str, text: str) -> str:
    """Return a list of sources without the sources, except those of tests; the whole of a program."""
    if not has_name(path, EVERYWHERE):
        return text
    folder = path.rpartition("/")[0]
    lines_matter = not has_name(path, ["CMakeLists.txt", "*.cmake"])
    return sources_part(
        text, lambda file: is_test_file(file) or is_test_file(normpath(f"{folder}/{file}")), lines_matter
    )


stands_in = no_stand_in
mistake = no_mistake


def normalise(test_id: str) -> str:
    """Return the id without the duration that ctest and GoogleTest append."""
    return _DURATION.sub("", test_id)
