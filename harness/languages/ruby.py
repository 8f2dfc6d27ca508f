"""Ruby, with RSpec; recipes serve minitest."""

import re
from collections.abc import Iterable

from assay.harness.languages.base import drop_patterns, folders, has_name, no_mistake, parts
from assay.harness.languages.grammars import read_lines, read_syntax
from assay.harness.templates import read_program

NAME = "ruby"
ALIASES: frozenset[str] = frozenset()
SUFFIXES = frozenset({".rb"})
DOCKERFILES = "ruby"
GRAMMAR = "tree_sitter_ruby:language"
SYNTAX = read_syntax(NAME)
LINES = read_lines(NAME)
TEST_SIGN = r"^\s*def\s+test_|\b(?:it|specify|test|describe)\b\s*\(?['\"]"
TEST_NAME = r"""^\s*def\s+(test_\w+)|\b(?:it|specify|test|should|context|describe)\b\s*\(?(?:'([^'\n]+)'|"([^"\n]+)")"""
SURE_NAME = ""
LOOKS_AROUND = r"\b(?:ObjectSpace|caller(?:_locations)?|TracePoint|PROGRAM_NAME|ARGV|at_exit|RSpec|[Mm]initest)\b|\$0\b"
INTERPRETER = "ruby -"
TEST_COMMAND = read_program(__file__, "scripts/rspec.sh")
DEFAULT_REPORT = "rspec_json"
DEFAULT_LOG = "rspec_text"
DEFAULT_ID = "rspec"
DEFAULT_RUNNER = "rspec"
FINISHED = frozenset({0, 1})
PROJECT_FILES: tuple[str, ...] = ("Gemfile",)
VERSION_KEYS: tuple[str, ...] = ("ruby-version", "rvm", "ruby")
LEAST_VERSION = ("", "")
MANIFESTS: tuple[str, ...] = ("Gemfile", "Gemfile.lock", "gems.rb", "gems.locked", "*.gemspec")
MISSING_PACKAGE = r"Could not find gem|cannot load such file -- [^./]|Could not find '[^']*' \("
BUILD_PRODUCTS: tuple[str, ...] = ("vendor/bundle", "vendor/bundle/*", "*.so", "*.bundle", "*.o")

TEST_FOLDERS = frozenset({"test", "tests", "spec", "features"})
SOURCES = frozenset({"lib", "app"})
TEST_NAMES = ("*_spec.rb", "*_test.rb", "test_*.rb", "*.feature")
CONFIGURATION = (
    *(".rspec", ".rspec-*", "cucumber.yml", ".simplecov", ".minitest"),
    *("spec_helper.rb", "rails_helper.rb", "test_helper.rb", "minitest_helper.rb"),
    *("Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb", "*.rake"),  # what "test" runs
    *("Gemfile", "Gemfile.lock", "gems.rb", "gems.locked", "*.gemspec", ".ruby-version"),
)
SHADOWS = re.compile(r"(^|/)(lib|test|spec)/(rspec|minitest|test[-_/]unit|cucumber|rake|bundler|rubygems)([-_./]|$)")
"""Matches a whole path. Ruby searches these folders before the gems, and minitest loads every plug-in in them."""
_CLASS = re.compile(r"^\s*class\s+([\w:]+)", re.MULTILINE)
STEERING_NAMES: frozenset[str] = drop_patterns(*CONFIGURATION) | {".bundle"}
_ADDRESS = re.compile(r"(?<=:)0x[0-9a-f]+\b")
SOURCE_NAMES = ""


def is_test_file(path: str) -> bool:
    """Return whether a file belongs to the tests; test helpers below ``lib`` and ``app`` are part of the product."""
    inside = set(folders(path))
    return not SOURCES & inside and (bool(TEST_FOLDERS & inside) or has_name(path, TEST_NAMES))


def runner_config(path: str) -> bool:
    """Return whether a file configures the test runner, or could replace part of it.

    Inside source folders, such names belong to templates.
    """
    if ".bundle" in parts(path) or stands_in(path):
        return True
    return not SOURCES & set(folders(path)) and has_name(path, CONFIGURATION)


def steering_part(path: str, text: str) -> str:
    """Return the whole of a file, since most are programs; nothing of a lock file."""
    return "" if has_name(path, ["Gemfile.lock", "gems.locked"]) else text


def stands_in(path: str) -> str:
    """Return the folder or file that Ruby would load before a runner's gem."""
    found = SHADOWS.search(path)
    return path[: found.end(3)] if found else ""


def test_targets(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for path in paths if is_test_file(path) and has_name(path, TEST_NAMES[:3])))


def places(path: str, text: str) -> Iterable[str]:  # noqa: ARG001 - the Protocol names it
    """Return the names of the classes, by which minitest refers to a test."""
    return _CLASS.findall(text)


mistake = no_mistake


def normalise(test_id: str) -> str:
    """Return the id without the object addresses that RSpec puts into generated descriptions."""
    return _ADDRESS.sub("0x", test_id)
