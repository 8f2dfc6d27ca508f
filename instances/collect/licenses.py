"""The license of a tree, by phrases of its text. Pure."""

import re
from fnmatch import fnmatchcase

from assay.harness.templates import read_table

PERMISSIVE = frozenset(
    {"MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "ISC", "PSF-2.0", "Unlicense", "Zlib", "MIT-0", "0BSD"}
)
"""Licenses whose code may be shared with little more than their text."""

FILES = ("licen[cs]e*", "copying*", "unlicense*")
"""Patterns of the names, in lower case, of files in the root folder."""

PHRASES: list[tuple[str, list[str]]] = [(name, phrases) for name, *phrases in read_table(__file__)["phrases"]]
"""SPDX names, and phrases that their texts hold."""


def is_license_file(path: str) -> bool:
    return "/" not in path and any(fnmatchcase(path.lower(), pattern) for pattern in FILES)


def detect_license(text: str) -> str:
    """Return the SPDX name of a license text; empty if its words are not known."""
    words = re.sub(r"[\s*#>]+", " ", text.lower())
    return next((name for name, phrases in PHRASES if all(phrase in words for phrase in phrases)), "")
