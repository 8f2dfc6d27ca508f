"""The viewer's own files: one style sheet, scripts, a picture for the tab."""

from collections.abc import Iterator
from importlib.resources import files

TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
"""Content types by the end of a name; nothing else is served."""


def names() -> Iterator[str]:
    yield from sorted(
        file.name for file in files("assay.viewer").joinpath("static").iterdir() if _end(file.name) in TYPES
    )


def read(name: str) -> bytes | None:
    """Return a file's content; None if there is no such file."""
    return files("assay.viewer").joinpath("static", name).read_bytes() if name in names() else None


def get_type(name: str) -> str:
    return f"{TYPES[_end(name)]}; charset=utf-8"


def _end(name: str) -> str:
    return name[name.rfind(".") :]
