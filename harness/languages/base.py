"""The members of a language's module, and the helpers that several of them share."""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Protocol

from assay.harness.errors import PluginError

if TYPE_CHECKING:
    import tree_sitter


CALLED = "(call_expression function: (_) @calls)"
"""A call, in the grammars that took C's for a model."""
CONDITION_IN_PARENTHESES = r"(\s*(?:\}\s*else\s+)?(?:if|while)\s*\()(.+)(\)\s*\{?\s*)"
CONDITION_BEFORE_BRACE = r"(\s*(?:\}\s*else\s+)?if )((?!let\b)[^;]+)( \{\s*)"


@dataclass(frozen=True, slots=True)
class Syntax:
    """Node types of a grammar: first those that define something, then what spells source in one canonical way."""

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
    blocks: frozenset[str] = frozenset()
    """Their members are statements, one level further in."""
    sequences: frozenset[str] = frozenset()
    """Their members are statements too, on the level of what is around: the file itself, a preprocessor's branch."""
    optional_semicolons: bool = False
    """Whether a semicolon that ends a statement means nothing."""
    ended: frozenset[str] = frozenset()
    """Statements that are written with a semicolon, where it may be left out but usually is not."""
    heads: frozenset[str] = frozenset()
    """Where a semicolon separates parts, as in the head of a ``for``, instead of ending a statement."""
    either_quote: bool = False
    """Whether single and double quotes mean the same."""
    spaces_matter: bool = False
    """Whether a space between two tokens can change what they mean."""
    mentions: str = ""
    """Tree-sitter query for what code ``@calls`` and what it ``@inherits`` from; empty: no such relations are known."""

    def grammar(self, path: str) -> str:
        """Return the grammar that a file needs instead of ``Language.GRAMMAR``; empty if that one reads it."""
        return dict(self.grammars).get(PurePosixPath(path).suffix, "")


@dataclass(frozen=True, slots=True)
class Lines:
    """How single lines of code read, without a grammar: a diff shows fragments, which no grammar need accept.

    All patterns are regular expressions. The defaults are those of a language that nobody knows.
    """

    comments: tuple[str, ...] = ("//",)
    """Beginnings of a comment that goes to the end of its line, the usual one first; ``//`` implies ``/* */``."""
    docstrings: bool = False
    """Whether triple-quoted texts document the code."""
    definitions: tuple[str, ...] = ()
    """Each finds the name, its only group, that a line defines: of a function, a type, a method, a top-level value."""
    condition: str = ""
    """Matches a whole line with a condition, in three groups: what is before it, the condition, what is behind it."""
    negation: str = "!({})"
    """The opposite of a condition that stands for the braces."""
    word_comparisons: bool = False
    """Whether ``is`` and ``in`` compare."""
    nothing: str = ""
    """The value that can be returned in place of any other; empty where types forbid that."""
    kept_results: str = r"(?!)"
    """Found in an expression after ``return`` that ``nothing`` cannot stand for: a number in Java."""
    empty_statement: str = ""
    """The statement that does nothing, where a block may not be empty: Python's ``pass``."""
    semicolons: bool = False
    """Whether every statement ends in a semicolon."""


class Language(Protocol):
    """A module that knows one language; paths are relative to the repository and use forward slashes."""

    NAME: str
    ALIASES: frozenset[str]
    """Other names that data sets and models use for it, in lower case; usually few: ``golang``, ``py``."""
    SUFFIXES: frozenset[str]
    """Of source files, with the dot."""
    DOCKERFILES: str
    """Folder of ``dockerfiles/`` with what its images are built with; two languages of one toolchain share it."""
    GRAMMAR: str
    """Syntax-tree grammar: module and function of an individual grammar wheel, ``tree_sitter_go:language``."""
    SYNTAX: Syntax
    """What of that grammar defines functions and classes, and how source is spelled."""
    LINES: Lines
    """How a line of code reads where there is no tree; audits of patches use it."""
    TEST_SIGN: str
    """Regular expression, found in the text of a test file; models' answers are searched for it."""
    INTERPRETER: str
    """Shell command that runs a script from its standard input; empty: such scripts are written for bash instead."""
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
