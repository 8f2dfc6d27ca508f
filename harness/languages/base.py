"""What the harness knows about a programming language: which files are tests and what steers their runner."""

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Protocol


class Language(Protocol):
    """A module that knows one language; paths are relative to the repository and use forward slashes."""

    NAME: str
    SUFFIXES: frozenset[str]
    """Of source files, with the dot."""
    DEFAULT_REPORT: str
    """Name of the report format (``harness.reports.FORMATS``) that the usual runner can write."""

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

    def test_files(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return, in order and once each, those of the paths that a test runner can be given to run."""
        ...


def folders(path: str) -> tuple[str, ...]:
    """Return the folder names that a path goes through."""
    return PurePosixPath(path).parts[:-1]
