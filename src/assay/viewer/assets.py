"""The viewer's own files: one style sheet, scripts, a picture for the tab."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import PurePosixPath

TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
"""Content types by the end of a name; nothing else is served."""


def names() -> Iterator[str]:
    static = files("assay.viewer").joinpath("static")
    yield from sorted(each.name for each in static.iterdir() if PurePosixPath(each.name).suffix in TYPES)


def read(name: str) -> bytes | None:
    """Return a file's content; None if there is no such file."""
    return files("assay.viewer").joinpath("static", name).read_bytes() if name in names() else None


def get_type(name: str) -> str:
    return f"{TYPES[PurePosixPath(name).suffix]}; charset=utf-8"
