"""Test files imported in a changed form, by whoever imports them, under their own name; no file is written."""

import importlib.machinery
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from . import wire


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a file as the code that something else makes of it; no compiled file is read or kept."""

    def __init__(self, name: str, path: str, make: "Callable[[str], CodeType]") -> None:
        super().__init__(name, path)
        self._make = make

    def get_code(self, fullname: str) -> "CodeType":  # noqa: ARG002
        """Return the changed code."""
        return self._make(self.path)


class Finder:
    """Finds files, and those beside them among tests, first; `make` returns the code for an absolute path."""

    def __init__(self, files: "list[str]", make: "Callable[[str], CodeType]") -> None:
        paths = [(wire.ROOT / file).resolve() for file in files]
        folders = {path.parent for path in paths if wire.TESTS.intersection(path.parts)}
        self._files = frozenset(map(str, [*paths, *(path for each in folders for path in each.glob("*.py"))]))
        self._make = make

    def find_spec(self, name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None) -> Any:
        """Return the spec of one of the files; None for anything else."""
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or not spec.origin or str(Path(spec.origin).resolve()) not in self._files:
            return None
        spec.loader = _Loader(name, spec.origin, self._make)
        spec.cached = None
        return spec
