"""The members of a language's module, and the helpers that several of them share."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Protocol

from pydantic import with_config

from assay.harness.languages.recorders import STRICT, Sealing

if TYPE_CHECKING:
    import tree_sitter


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class Copying:
    """How to write a test once more with another literal, so that both can run: node types and patterns of a grammar.

    ``MARK`` stands for a word that no other copy has.
    """

    test: tuple[str, str]
    """Node type of a test, and what its source begins with."""
    texts: frozenset[str]
    numbers: frozenset[str]
    kept: frozenset[str]
    """Nodes whose own literals stay, since another would break every test: an index, a type, an import."""
    names: str
    """What begins calls and operations whose own literals stay: names of tests and modules, formats, durations."""
    row: tuple[str, frozenset[str]]
    """Node type of a table, and those of its rows."""
    between: frozenset[str]
    """Nodes between a table and what gives it a name."""
    loop: str
    """Finds, in a test, a loop over the table ``NAME``."""
    declared: str
    """Finds names that a test declares and has to use: a table that uses one keeps its rows."""
    raised: str
    """Finds, at the start of a failed test's message, the type of what was thrown and is no failed assertion."""
    renamed: str = ""
    """Replaces what a test begins with, where a copy stands beside it; empty where it stands in its place."""
    wrapped: tuple[str, str] = ("", "")
    """Text before and behind a whole file, where a copy is the file without its other tests."""
    head: str = ""
    """What begins statements that stay at the top of such a file: imports."""
    environment: str = ""
    """Assignments of a shell by which a runner leaves out other tests."""


NOWHERE = r"(?!)"  # matches nothing


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class Asserting:
    """What the assertions of a language's tests are, for counter-tests: node types of its grammar, and patterns.

    Patterns are searched for in the source of a call up to its arguments.
    """

    equal: str
    """Calls whose arguments, or some of them, are compared for equality."""
    literals: frozenset[str]
    arguments: frozenset[str]
    """Nodes with the arguments of a call, between brackets."""
    searching: str = NOWHERE
    """Calls that search for their argument in something else."""
    raising: str = NOWHERE
    """Calls whose first argument is the type of an expected exception."""
    instance: str = NOWHERE
    """Calls whose second argument is the type that the first one has."""
    truth: str = NOWHERE
    """Calls whose first argument is a condition."""
    statements: frozenset[str] = frozenset()
    """Statements that assert their first part."""
    failing: str = ""
    """Found in such a statement that is the test's own failure: Go's ``if`` with an ``Errorf``."""
    comparisons: frozenset[str] = frozenset()
    operators: frozenset[str] = frozenset({"=="})
    """Operators of equality; ``in`` is a search."""
    constants: str = r"set|frozenset|tuple|list|dict"
    """Names that may stand in a constant."""
    expected_first: bool = False
    """Whether the expected value is usually the first operand."""
    typed: bool = False
    """Whether an operator of equality takes operands of one type alone."""
    nonce: str = ""
    """Source of a text that is equal to nothing; empty where no assertion takes operands of two types."""
    exception: str = ""
    """Source of a type of exceptions that no test expects."""
    escape: str = r"\x{:02x}"
    """How the number of a letter stands for it in a text."""
    escaping: str = '"'
    """Quotes between which this means the letter."""
    opposites: tuple[tuple[str, str], ...] = ()
    """Patterns of a whole assertion, each with its opposite; the first that is found counts."""
    matcher: str = ""
    """Calls whose only argument is a matcher with arguments of its own, as in RSpec; its name is added to theirs."""
    blocks: frozenset[str] = frozenset()
    """Assertions that contain others, such as a ``with`` statement's."""
    titled: bool = False
    """Whether ``TEST_NAME`` finds the tests; otherwise they are functions."""


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class Syntax:
    """Node types and facts of a grammar: for definitions first, then for the canonical spelling of source."""

    functions: frozenset[str]
    classes: frozenset[str]
    """Types with members, under any name, and blocks that contain their methods."""
    scopes: frozenset[str] = frozenset()
    """Only qualify the names inside them: namespaces and modules."""
    function_values: frozenset[str] = frozenset()
    """Expressions that count as a function if they are given a name."""
    class_values: frozenset[str] = frozenset()
    givers: frozenset[str] = frozenset()
    """Statements and fields that name such an expression."""
    wrappers: frozenset[str] = frozenset()
    """Enclose a definition and belong to it, such as Python's decorated definition."""
    decorators: frozenset[str] = frozenset()
    """Precede a definition on the same level and belong to it."""
    bodies: frozenset[str] = frozenset()
    """Bodies of functions and classes, where the grammar does not give them the field ``body``."""
    grammars: tuple[tuple[str, str], ...] = ()
    """Suffixes of files that need another grammar than the language's own, and that grammar."""
    blocks: frozenset[str] = frozenset()
    """Contain statements, indented one level further."""
    sequences: frozenset[str] = frozenset()
    """Contain statements on the same level: the file itself, a branch of the preprocessor."""
    optional_semicolons: bool = False
    """Whether the semicolon at the end of a statement may be left out."""
    ended: frozenset[str] = frozenset()
    """Statements that get a semicolon in the canonical spelling."""
    heads: frozenset[str] = frozenset()
    """Nodes in which a semicolon separates parts, as in the head of a ``for``, and may not be left out."""
    either_quote: bool = False
    """Whether single and double quotes mean the same."""
    spaces_matter: bool = False
    """Whether a space between two tokens can change what they mean."""
    mentions: str = ""
    """Tree-sitter query with the captures ``@calls`` and ``@inherits``; empty if such relations are not known."""
    copying: Copying | None = None
    """How PatchDiff copies tests; None if it cannot."""
    asserting: Asserting | None = None
    """What assertions are; None if there are no counter-tests."""
    stub: str = ""
    """Body of a function that only fails."""
    sealing: Sealing | None = None
    """How literals are taken out of tests; None if they cannot be."""

    def grammar(self, path: str) -> str:
        """Return the grammar that a file needs instead of ``Language.GRAMMAR``; empty if it needs none."""
        return dict(self.grammars).get(PurePosixPath(path).suffix, "")


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class Lines:
    """Patterns of single lines of code. Audits use them on diffs, whose fragments a grammar need not accept.

    All patterns are regular expressions. The defaults are used for an unknown language.
    """

    comments: tuple[str, ...] = ("//",)
    """Marks that begin a comment to the end of the line, the usual one first; ``//`` implies ``/* */``."""
    docstrings: bool = False
    """Whether triple-quoted strings are documentation."""
    definitions: tuple[str, ...] = ()
    """Each finds one name that a line defines (function, type, method, top-level value), as its only group."""
    condition: str = ""
    """Matches a whole line with a condition, in three groups: text before, condition, text after."""
    negation: str = "!({})"
    """Format of a negated condition; ``{}`` is the condition."""
    word_comparisons: bool = False
    """Whether ``is`` and ``in`` are comparisons."""
    nothing: str = ""
    """The value that a function can return instead of any other, such as ``null``; empty if types forbid that."""
    kept_results: str = r"(?!)"
    """Found in returned expressions that ``nothing`` cannot replace, such as a number in Java."""
    empty_statement: str = ""
    """The statement that does nothing, if a block may not be empty: Python's ``pass``."""
    semicolons: bool = False
    """Whether every statement ends in a semicolon."""
    tests_inside: str = ""
    """Finds a module of tests inside of a source, with its name as the only group; in many lines at once."""
    test_above: str = ""
    """Matches what is written above a test, or whatever only tests need, in a source; empty if none has tests."""

    def keep_tests(self, base: str, theirs: str) -> str:
        """Return a source as it is, with the modules of tests of another version.

        Patches are derived from releases by this; their labels were measured with it, so it cannot read syntax trees.
        """
        if not self.tests_inside:
            return theirs
        inside = re.compile(self.tests_inside, re.MULTILINE | re.DOTALL)
        own = {module[1]: module[0] for module in inside.finditer(base)}
        kept = inside.sub(lambda module: own.pop(module[1], ""), theirs)
        return kept + "".join(own.values())


class Language(Protocol):
    """A module that knows one language; paths are relative to the repository and use forward slashes."""

    NAME: str
    ALIASES: frozenset[str]
    """Other names that data sets and models use, in lower case: ``golang``, ``py``."""
    SUFFIXES: frozenset[str]
    """Suffixes of source files, with the dot."""
    DOCKERFILES: str
    """Folder below ``dockerfiles/`` that its images are built from; languages of one toolchain share it."""
    GRAMMAR: str
    """Tree-sitter grammar: module and function of its wheel, ``tree_sitter_go:language``."""
    SYNTAX: Syntax
    """Node types of that grammar."""
    LINES: Lines
    """How a line of code reads without a syntax tree."""
    TEST_SIGN: str
    """Regular expression that finds a test in source code; models' answers are searched with it."""
    TEST_NAME: str
    """Regular expression whose groups are the names of the tests in a test file; empty if labels always name more."""
    SURE_NAME: str
    """Regular expression of labels whose group is a word of the source of every such test, which nothing can compute.

    Empty if there are no such labels.
    """
    LOOKS_AROUND: str
    """Regular expression of code that looks at frames, a test runner or its own command line; it marks a cause."""
    INTERPRETER: str
    """Shell command that runs a script from standard input; empty: models write such scripts for bash."""
    TEST_COMMAND: str
    """Shell text that runs the usual test runner; ``Recipe.test_command`` describes its placeholders."""
    DEFAULT_REPORT: str
    """Name of the report format (``harness.reports.FORMATS``) that this command writes."""
    DEFAULT_LOG: str
    """Name of the report format of this command's output."""
    DEFAULT_ID: str
    """Name of the style (``harness.reports.IDS``) in which labels usually name a test."""
    DEFAULT_RUNNER: str
    """Name of the runner (``harness.runners.RUNNERS``) that this command starts; empty if it has no tripwires."""
    FINISHED: frozenset[int]
    """Exit statuses of a runner that ran to its end, with or without failed tests."""
    PROJECT_FILES: tuple[str, ...]
    """Files in the root folder that are a sign of a project in this language, and say how it is built."""
    VERSION_KEYS: tuple[str, ...]
    """Keys in CI configuration whose values are versions of a toolchain: ``java-version``."""
    LEAST_VERSION: tuple[str, str]
    """File in the root folder, and regular expression of the least toolchain version in it; both empty if none says."""
    MANIFESTS: tuple[str, ...]
    """Patterns (``*`` matches ``/`` too) of the files that decide which packages a build needs."""
    MISSING_PACKAGE: str
    """Regular expression of what clients without a network print about a package that is not there; empty: nothing."""

    BUILD_PRODUCTS: tuple[str, ...]
    """Patterns (``*`` matches ``/`` too) of files that a build leaves in the tree; patches may not contain them."""

    STEERING_NAMES: frozenset[str]
    """Names for which ``runner_config`` holds, of files and of folders, without its patterns.

    A patch may not make another name that differs from one of these only by case.
    """

    SOURCE_NAMES: str
    """Regular expression of names by which ``is_test_file`` holds and that a source can have nevertheless.

    It matches a whole name. Empty if such a name always means a test, as ``_test.go`` does.
    """

    def is_test_file(self, path: str) -> bool:
        """Return whether a file belongs to the tests: test code, its helpers or its data."""
        ...

    def runner_config(self, path: str) -> bool:
        """Return whether a file, anywhere in the tree, can configure or hook the test runner.

        A folder that steers the runner counts by its own name too, whatever a patch makes of it. Such files are put
        back before the tests run: whoever writes them decides what "passed" means.
        """
        ...

    def steering_part(self, path: str, text: str) -> str:
        """Return the part of a file for which ``runner_config`` holds that decides about tests, to be compared.

        The rest may be part of a fix: a version, an entry for a new source, a dependency. Where nothing parts them
        apart, as in a program, it is the whole text; empty for a file that no test run reads.
        """
        ...

    def stands_in(self, path: str) -> str:
        """Return the folder or module at the start of a path that would be loaded in place of a part of the runner.

        Empty if there is none. ``runner_config`` holds for it, but it stays if the fix touches the same: then the
        project is a runner.
        """
        ...

    def test_targets(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return the arguments with which the test runner runs the tests of these files, in order and once each.

        These are files, packages or classes; nothing for a runner that always runs everything.
        """
        ...

    def places(self, path: str, text: str) -> Iterable[str]:
        """Return the modules or classes by which labels refer to a test file, beside its path."""
        ...

    def mistake(self, path: str, text: str) -> str:
        """Return a syntax error that the grammar accepts, as ``line 3: why``; empty if there is none."""
        ...

    def normalise(self, test_id: str) -> str:
        """Return a test's id without parts that vary from run to run, such as timings and addresses."""
        ...


def no_mistake(path: str, text: str) -> str:  # noqa: ARG001 - the Protocol names them
    """Return nothing: the ``mistake`` of a language whose grammar sees every mistake that Assay knows of."""
    return ""


def unchanged(test_id: str) -> str:
    """Return the id as it is: the ``normalise`` of a language whose ids do not vary."""
    return test_id


def no_stand_in(path: str) -> str:  # noqa: ARG001 - the Protocol names it
    """Return nothing: the ``stands_in`` of a language whose runner cannot be replaced by a file's name."""
    return ""


def no_targets(paths: Iterable[str]) -> tuple[str, ...]:  # noqa: ARG001 - the Protocol names it
    """Return nothing: the ``test_targets`` of a language whose runner always runs everything."""
    return ()


def no_places(path: str, text: str) -> tuple[str, ...]:  # noqa: ARG001 - the Protocol names them
    """Return nothing: the ``places`` of a language whose labels name a test by its path or its own name alone."""
    return ()


def list_dotted_names(path: str) -> Iterator[str]:
    """Yield a path without its suffix, and each of its ends, with dots for slashes: ``a.b.c``, ``b.c``, ``c``."""
    parts = PurePosixPath(path).with_suffix("").parts
    yield from (".".join(parts[start:]) for start in range(len(parts)))


def load_grammar(language: Language, path: str = "") -> "tree_sitter.Language":
    import tree_sitter

    module, _, function = (language.SYNTAX.grammar(path) or language.GRAMMAR).partition(":")
    return tree_sitter.Language(getattr(import_module(module), function)())


def has_name(path: str, patterns: Iterable[str]) -> bool:
    """Return whether the last part of a path matches one of these patterns; case matters."""
    name = PurePosixPath(path).name
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def is_manifest(path: str, patterns: Iterable[str]) -> bool:
    """Return whether a path, in any folder, matches one of these patterns of manifests."""
    return any(fnmatchcase(path, pattern) for pattern in anywhere(*patterns))


def anywhere(*patterns: str) -> tuple[str, ...]:
    """Return patterns for whole paths that match in the root folder and in every folder below it."""
    return tuple(each for pattern in patterns for each in (pattern, f"*/{pattern}"))


def parts(path: str) -> tuple[str, ...]:
    return PurePosixPath(path).parts


def drop_patterns(*names: str) -> frozenset[str]:
    return frozenset(name for name in names if not set(name) & set("*?["))


def folders(path: str) -> tuple[str, ...]:
    return PurePosixPath(path).parts[:-1]
