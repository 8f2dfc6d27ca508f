"""C, with CMake and ctest; suites of Make and autotools are a matter of recipes."""

import re
from collections.abc import Iterable

from assay.harness.languages.base import CALLED, CONDITION_IN_PARENTHESES, Lines, Syntax, anywhere, folders, named

NAME = "c"
ALIASES: frozenset[str] = frozenset()
SUFFIXES = frozenset({".c", ".h"})
"""C++ has headers of that name, too."""
DOCKERFILES = "c"
GRAMMAR = "tree_sitter_c:language"
SYNTAX = Syntax(
    functions=frozenset({"function_definition"}),
    classes=frozenset({"struct_specifier", "union_specifier", "enum_specifier"}),
    blocks=frozenset({"compound_statement", "declaration_list", "field_declaration_list", "enumerator_list"}),
    sequences=frozenset(
        {
            "translation_unit",
            *("preproc_ifdef", "preproc_if", "preproc_else", "preproc_elif", "preproc_elifdef"),
        }
    ),
    mentions=CALLED,
)
LINES = Lines(
    definitions=(
        r"^(?:static |inline |extern |const |unsigned |constexpr |virtual )*[\w:<>*&]+[ *&]+(\w+)\([^;]*$",
        r"^\s*#\s*define (\w+)",
        r"\b(?:struct|class|enum|union|namespace) (\w+)\s*(?:[:{]|$)",
    ),
    condition=CONDITION_IN_PARENTHESES,
    semicolons=True,
)
TEST_SIGN = r"\bTEST\w*\s*\(|\bint\s+main\s*\("
INTERPRETER = ""
BUILD = "assay-build"
"""Folder of the build: no repository has one of that name, while some keep sources in ``build``."""
TEST_COMMAND = f"""\
cmake -S . -B {BUILD} -DCMAKE_BUILD_TYPE=Debug && cmake --build {BUILD} --parallel 2 || exit $?
rm -rf {{reports}} && mkdir -p {{reports}} || exit $?
export GTEST_OUTPUT=xml:{{reports}}/
ctest --test-dir {BUILD} --output-on-failure --output-junit {{reports}}/ctest.xml
status=$?
find {{reports}} -name '*.xml' ! -exec grep -q 'failures=' {{}} ';' -delete
exit "$status"
"""
"""Tests of GoogleTest tell of themselves, beside ctest, which may see no more than one program. A file without a count
of failures is GoogleTest's list of the tests that there are, and no evidence."""
DEFAULT_REPORT = "junit_xml"
DEFAULT_LOG = "ctest_text"
DEFAULT_ID = "dot"
FINISHED = frozenset({0, 1, 2, 8})
"""ctest says 8 when tests failed, make says 2."""
MANIFESTS: tuple[str, ...] = ()
"""None: libraries are Debian packages, which recipes name."""
BUILD_PRODUCTS: tuple[str, ...] = (
    *(BUILD, f"{BUILD}/*"),
    *("*.o", "*.lo", "*.a", "*.la", "*.so", "*.so.*", "*.gch", "*.pch"),
    *anywhere("CMakeCache.txt", "CMakeFiles/*", "CTestTestfile.cmake"),
)
"""A newer object is taken for its source, a precompiled header for the header."""

TEST_FOLDERS = re.compile(
    r"(unit|self|regress|fuzz|integration)?[_-]?tests?|testing|testsuite|testdata|t", re.IGNORECASE
)
TEST_NAMES = re.compile(r"tests?[_\-].+\.\w+|.+[_\-.](unit)?tests?\.\w+|run[_\-]?tests?(\.\w+)?")
TOP_NAMES = re.compile(r"tests?\.\w+")
EVERYWHERE = (
    *("*.cmake", "CMakeLists.txt", "CTestConfig.*", "CMakePresets.json", "CMakeUserPresets.json"),
    *("*.m4", "*.mk", "*.am", "Makefile", "makefile", "GNUmakefile", "Makefile.*"),
    *("meson.build", "BUILD", "BUILD.bazel", "SConscript"),
)
AT_THE_TOP = (
    *("configure", "configure.*", "meson_options.txt", "meson.options", "WORKSPACE*", "MODULE.bazel", "SConstruct"),
    *("build.sh", "autogen.sh", "bootstrap", "bootstrap.sh", "wscript", "conanfile.*", "vcpkg.json"),
)
FRAMEWORKS = frozenset({"gtest", "gmock", "googletest"})
_DURATION = re.compile(r"\s+\(?\d+(\.\d+)?\s?(ms|s|sec)\)?$")


def is_test_file(path: str) -> bool:
    """Tell whether a file belongs to the tests: by its folder at any depth, or by its name.

    ``test.c`` does at the top only: deeper down, it may be a program of that name.
    """
    if any(map(TEST_FOLDERS.fullmatch, folders(path))) or TOP_NAMES.fullmatch(path):
        return True
    return TEST_NAMES.fullmatch(_name(path)) is not None


def runner_config(path: str) -> bool:
    """Tell whether a file decides what is built and run as the tests.

    Build files are programs, and one anywhere in the tree can redefine what a test is. They list the sources as well: a
    patch that adds one where the gold patch leaves the list alone does not build, and the flag says why. A test
    framework's folder would come before the real one among the headers.
    """
    inside = folders(path)
    if named(path, EVERYWHERE) or FRAMEWORKS & set(inside):
        return True
    return not inside and named(path, AT_THE_TOP)


def test_targets(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the test files, for recipes that build or run some of the suite only; ctest itself runs all of it."""
    return tuple(dict.fromkeys(filter(is_test_file, paths)))


def normalise(test_id: str) -> str:
    """Return the id without the duration that ctest and GoogleTest put behind it."""
    return _DURATION.sub("", test_id)


def _name(path: str) -> str:
    return path.rpartition("/")[2]
