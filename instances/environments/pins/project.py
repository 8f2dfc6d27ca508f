"""Reads how a Python project is built from its pyproject.toml."""

import tomllib
from dataclasses import dataclass
from typing import Any

SETUPTOOLS = "setuptools.build_meta:__legacy__"
"""The backend of a project that names none."""
ALWAYS = ("pip", "setuptools", "wheel")
"""Packages that virtual environments used to hold; tests rely on them, and so does installing without isolation."""
EDITABLE_NEEDS = {"hatchling.build": ("editables",)}
"""Requirements that a backend states only when it is asked for an editable install."""


@dataclass(frozen=True, slots=True)
class BuildSystem:
    """The ``build-system`` table of pyproject.toml, or its defaults."""

    requires: tuple[str, ...] = ALWAYS
    backend: str = SETUPTOOLS
    backend_path: tuple[str, ...] = ()


def read_build_system(pyproject: bytes | None) -> BuildSystem:
    """Read the build system from the text of pyproject.toml; None or a broken file gives the default.

    A broken file is no error here: an old commit may have one, and its build reports it better.
    """
    table = _table(pyproject)
    requires, backend, path = table.get("requires"), table.get("build-backend"), table.get("backend-path")
    backend = backend if isinstance(backend, str) else SETUPTOOLS
    wanted = (*ALWAYS, *_texts(requires), *EDITABLE_NEEDS.get(backend, ()))
    return BuildSystem(tuple(dict.fromkeys(wanted)), backend, _texts(path))


def _table(pyproject: bytes | None) -> dict[str, Any]:
    try:
        table = tomllib.loads((pyproject or b"").decode()).get("build-system")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return {}
    return table if isinstance(table, dict) else {}


def _texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
