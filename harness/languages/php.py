"""PHP, with PHPUnit."""

from collections.abc import Iterable
from pathlib import PurePosixPath

from assay.harness.languages.base import (
    anywhere,
    drop_patterns,
    folders,
    has_name,
    no_mistake,
    no_stand_in,
    unchanged,
)
from assay.harness.languages.grammars import read_lines, read_syntax
from assay.harness.languages.manifests import json_part
from assay.harness.reports.testdox import prettify

NAME = "php"
ALIASES: frozenset[str] = frozenset()
SUFFIXES = frozenset({".php"})
DOCKERFILES = "php"
GRAMMAR = "tree_sitter_php:language_php"
SYNTAX = read_syntax(NAME)
LINES = read_lines(NAME)
TEST_SIGN = r"\bfunction\s+test|#\[Test\b|@test\b|\b(?:it|test)\s*\("
TEST_NAME = ""  # labels always name the class
SURE_NAME = ""
LOOKS_AROUND = r"\bdebug_(?:print_)?backtrace\b|\bgetTrace(?:AsString)?\b|[Pp][Hh][Pp][Uu]nit|\$argv\b|_SERVER\[.argv"
INTERPRETER = "php"
TEST_COMMAND = """\
/usr/bin/php /opt/assay/phpunit.php assay-phpunit.xml '{tripwires}' {files} || exit
exec /opt/assay/with_vendor phpunit --configuration assay-phpunit.xml --testdox --log-junit {report}
"""
"""Runs Debian's runner, or the one that Composer fetched; never one of the tree.

Most versions take one file at a time, but a configuration may list several.
"""
DEFAULT_REPORT = "junit_xml"
DEFAULT_LOG = "phpunit_text"
DEFAULT_ID = "testdox"
DEFAULT_RUNNER = "phpunit"
FINISHED = frozenset({0, 1, 2})  # PHPUnit exits with 2 after an error in a test
PROJECT_FILES: tuple[str, ...] = ("composer.json",)
VERSION_KEYS: tuple[str, ...] = ("php-version", "php", "php-versions")
LEAST_VERSION = ("", "")
MANIFESTS: tuple[str, ...] = ("composer.json", "composer.lock")
MISSING_PACKAGE = r"Your requirements could not be resolved to an installable set of packages"
BUILD_PRODUCTS: tuple[str, ...] = ("vendor", "vendor/*", *anywhere(".phpunit.cache", ".phpunit.cache/*"), "*.phar")
"""Composer's packages, which include the runner."""

TEST_FOLDERS = frozenset({"test", "tests", "Tests", "spec", "features"})
SOURCES = frozenset({"src", "lib", "app"})
TEST_NAMES = ("*Test.php", "*TestCase.php", "*.phpt")
PACKAGE_FREE = frozenset(
    {
        *("version", "description", "keywords", "license", "authors", "homepage", "support", "funding", "type"),
        *("require", "require-dev", "conflict", "suggest", "minimum-stability", "prefer-stable"),
    }
)
"""Keys of a package that load nothing."""
CONFIGURATION = (
    *("phpunit.xml", "phpunit.xml.*", "phpunit.*.xml", "phpunit-*.xml"),
    *("composer.json", "composer.lock"),  # list files that PHP loads first
    *("codeception.yml", "codeception.*.yml", "behat.yml", "behat.*.yml", "phpspec.yml", "kahlan-config.php"),
    *("php.ini", ".user.ini", ".env.testing", ".env.test"),
)
STEERING_NAMES: frozenset[str] = drop_patterns(*CONFIGURATION)
SOURCE_NAMES = ""


def is_test_file(path: str) -> bool:
    """Inside a source folder only ``Tests`` and ``tests`` count: there, a ``FooTest`` may be part of the product."""
    inside = folders(path)
    if {"Tests", "tests"} & set(inside):
        return True
    return not SOURCES & set(inside) and (bool(TEST_FOLDERS & set(inside)) or has_name(path, TEST_NAMES))


def runner_config(path: str) -> bool:
    return has_name(path, CONFIGURATION)


def test_targets(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(path for path in paths if is_test_file(path) and has_name(path, ["*Test.php", "*.phpt"]))
    )


def places(path: str, text: str) -> tuple[str, ...]:  # noqa: ARG001 - the Protocol names it
    """Return the class's name, and PHPUnit's prose for it."""
    name = PurePosixPath(path).stem
    return (name, *prettify([name]))


def steering_part(path: str, text: str) -> str:
    """Return the part that Composer loads and runs; nothing of its lock file, and the whole of PHPUnit's."""
    if has_name(path, ["composer.lock"]):
        return ""
    return json_part(text, PACKAGE_FREE) if has_name(path, ["composer.json"]) else text


stands_in = no_stand_in
mistake = no_mistake
normalise = unchanged
