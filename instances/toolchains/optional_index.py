"""Whether the package index answers of a language whose projects can also run on Debian's packages."""

import os
import ssl
import urllib.error
import urllib.request
from functools import cache
from pathlib import Path

from assay.instances.toolchains.host import CA_VARIABLES
from assay.instances.toolchains.versions import load_versions

PATIENCE = 5.0
"""Seconds that an index has to answer, once in a process."""


def index_answers(language: str) -> bool | None:
    """Return whether a language's index answers; None for a language that cannot do without one, or has none."""
    index = load_versions(language).index
    return _answers(f"{(os.environ.get(index.variable) or index.url).rstrip('/')}{index.probe}") if index else None


@cache
def _answers(url: str) -> bool:
    bundle = next((file for name in CA_VARIABLES if Path(file := os.environ.get(name, "")).is_file()), None)
    try:
        context = ssl.create_default_context(cafile=bundle)
        with urllib.request.urlopen(url, timeout=PATIENCE, context=context) as answer:
            return bool(answer.status == 200)
    except (OSError, ValueError, urllib.error.URLError):
        return False
