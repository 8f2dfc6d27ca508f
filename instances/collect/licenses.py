"""The license of a tree, by phrases of its text. Pure."""

import re
from fnmatch import fnmatchcase

PERMISSIVE = frozenset(
    {"MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "ISC", "PSF-2.0", "Unlicense", "Zlib", "MIT-0", "0BSD"}
)
"""Licenses whose code may be shared with little more than their text."""

FILES = ("licen[cs]e*", "copying*", "unlicense*")
"""Patterns of the names, in lower case, of files in the root folder."""

PHRASES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("AGPL-3.0", ("gnu affero general public license", "version 3")),
    ("LGPL-3.0", ("gnu lesser general public license", "version 3")),
    ("LGPL-2.1", ("gnu lesser general public license", "version 2.1")),
    ("GPL-3.0", ("gnu general public license", "version 3")),
    ("GPL-2.0", ("gnu general public license", "version 2")),
    ("MPL-2.0", ("mozilla public license", "2.0")),
    ("Apache-2.0", ("apache license", "version 2.0")),
    ("PSF-2.0", ("python software foundation license version 2",)),
    ("Unlicense", ("this is free and unencumbered software released into the public domain",)),
    ("BSD-3-Clause", ("redistribution and use in source and binary forms", "endorse or promote products")),
    ("BSD-2-Clause", ("redistribution and use in source and binary forms",)),
    ("MIT", ("permission is hereby granted, free of charge", "the above copyright notice and this permission notice")),
    ("MIT-0", ("permission is hereby granted, free of charge",)),
    ("ISC", ("permission to use, copy, modify, and/or distribute this software", "the above copyright notice")),
    ("ISC", ("permission to use, copy, modify, and distribute this software", "the above copyright notice")),
    ("0BSD", ("permission to use, copy, modify, and/or distribute this software",)),
    ("Zlib", ("altered source versions must be plainly marked as such",)),
)
"""SPDX names and phrases that their texts hold, in lower case; the first one that fits is the license."""


def is_license_file(path: str) -> bool:
    return "/" not in path and any(fnmatchcase(path.lower(), pattern) for pattern in FILES)


def detect_license(text: str) -> str:
    """Return the SPDX name of a license text; empty if its words are not known."""
    words = re.sub(r"[\s*#>]+", " ", text.lower())
    return next((name for name, phrases in PHRASES if all(phrase in words for phrase in phrases)), "")
