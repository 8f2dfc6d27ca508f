"""What the harness knows about a programming language: which files are tests and what steers their runner."""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Protocol

from assay.harness.errors import PluginError

if TYPE_CHECKING:
    import tree_sitter


@dataclass(frozen=True, slots=True)
class Syntax:
    """Node types of a grammar that define something; ``harness.syntax`` reads them."""

    functions: frozenset[str]
    classes: frozenset[str]
    """Types with members, whatever the language calls them, and what holds their methods."""
    scopes: frozenset[str] = frozenset()
    """Add their name to the names within and count for nothing else: namespaces and modules."""
    function_values: frozenset[str] = frozenset()
    """Expressions that count as a function where a name is given to them."""
    class_values: frozenset[str] = frozenset()
    givers: frozenset[str] = frozenset()
    """Statements and fields that give such a value its name."""
    wrappers: frozenset[str] = frozenset()
    """Stand around a definition and belong to it, such as Python's decorated definition."""
    decorators: frozenset[str] = frozenset()
    """Stand before a definition, on its level, and belong to it."""
    grammars: tuple[tuple[str, str], ...] = ()
    """Suffixes of files that another grammar than the language's own reads, and that grammar."""

    def grammar(self, path: str) -> str:
        """Return the grammar that a file needs instead of ``Language.GRAMMAR``; empty if that one reads it."""
        return dict(self.grammars).get(PurePosixPath(path).suffix, "")


class Language(Protocol):
    """A module that knows one language; paths are relative to the repository and use forward slashes."""

    NAME: str
    SUFFIXES: frozenset[str]
    """Of source files, with the dot."""
    DOCKERFILES: str
    """Folder of ``dockerfiles/`` with what its images are built with; two languages of one toolchain share it."""
    GRAMMAR: str
    """Syntax-tree grammar: module and function of an individual grammar wheel, ``tree_sitter_go:language``."""
    SYNTAX: Syntax
    """What of that grammar defines functions and classes."""
    TEST_COMMAND: str
    """Runs the usual runner; see ``Recipe.test_command`` for its placeholders."""
    DEFAULT_REPORT: str
    """Name of the report format (``harness.reports.FORMATS``) that this command writes."""
    DEFAULT_LOG: str
    """Name of the format of what this command prints."""
    DEFAULT_ID: str
    """Name of the way (``harness.reports.IDS``) in which labels usually name a test."""
    FINISHED: frozenset[int]
    """Exit statuses of a runner that has done all its work, whatever came of the tests."""
    MANIFESTS: tuple[str, ...]
    """Patterns (``*`` matches ``/`` too) of the files that decide which packages a build needs."""

    BUILD_PRODUCTS: tuple[str, ...]
    """Patterns (``*`` matches ``/`` too) of what an installation leaves in the tree: no patch may bring it along."""

    def is_test_file(self, path: str) -> bool:
        """Tell whether a file belongs to the tests: test code and also their helpers and data."""
        ...

    def runner_config(self, path: str) -> bool:
        """Tell whether a file can configure or hook the test runner, wherever in the tree it lies.

        Such files are put back before tests run: whoever writes them decides what "passed" means.
        """
        ...

    def test_targets(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return, in order and once each, what the test runner is given to run the tests of these files.

        That is the files themselves, or their packages or classes; nothing for a runner that always runs everything.
        """
        ...

    def normalise(self, test_id: str) -> str:
        """Return a test's id without what differs from run to run (timings, addresses); most need no change."""
        ...


def unchanged(test_id: str) -> str:
    """Return the id as it is: the ``normalise`` of a language whose runners print nothing volatile in ids."""
    return test_id


def no_targets(paths: Iterable[str]) -> tuple[str, ...]:  # noqa: ARG001 - the Protocol names it
    """Return nothing: the ``test_targets`` of a language whose runners always run everything."""
    return ()


def load_grammar(language: Language, path: str = "") -> "tree_sitter.Language":
    """Return the syntax-tree grammar of a language, or of one of its files; nothing else imports one.

    Raises:
        PluginError: its wheel is not installed; the message names the extra that brings it.
    """
    module, _, function = (language.SYNTAX.grammar(path) or language.GRAMMAR).partition(":")
    try:
        import tree_sitter

        return tree_sitter.Language(getattr(import_module(module), function)())
    except ImportError as error:
        raise PluginError(
            f"the grammar of {language.NAME} is not installed ({error}); it comes with assay-bench[grammars]"
        ) from error


def named(path: str, patterns: Iterable[str]) -> bool:
    """Tell whether the last part of a path matches one of these patterns, letter case included."""
    name = PurePosixPath(path).name
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def anywhere(*patterns: str) -> tuple[str, ...]:
    """Return patterns for whole paths that match at the top and in every folder below it."""
    return tuple(each for pattern in patterns for each in (pattern, f"*/{pattern}"))


def folders(path: str) -> tuple[str, ...]:
    """Return the folder names that a path goes through."""
    return PurePosixPath(path).parts[:-1]
