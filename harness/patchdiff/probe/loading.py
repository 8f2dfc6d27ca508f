"""Test files imported in a changed form, by whoever imports them, under their own name; no file is written."""

import importlib.machinery
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from . import wire


class Finder:
    """Finds files, and those beside them among tests, first; `make` returns the code for an absolute path."""

    def __init__(self, files: "list[str]", make: "Callable[[str], CodeType]") -> None:
        paths = [(wire.ROOT / file).resolve() for file in files]
        folders = {path.parent for path in paths if wire.TESTS.intersection(path.parts)}
        self._files = frozenset(map(str, [*paths, *(path for each in folders for path in each.glob("*.py"))]))
        self._make = make

    def find_spec(self, name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None) -> Any:
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or not spec.origin or str(Path(spec.origin).resolve()) not in self._files:
            return None
        spec.loader = loader = importlib.machinery.SourceFileLoader(name, spec.origin)
        loader.get_code = lambda _name: self._make(loader.path)  # type: ignore[assignment, method-assign]
        spec.cached = None  # no compiled file is read or kept
        return spec
