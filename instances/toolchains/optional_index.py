"""Whether the package index answers of a language whose projects can also run on Debian's packages."""

import os
from functools import cache

from assay.harness.errors import EnvironmentFailure
from assay.instances.toolchains.downloads import open_url
from assay.instances.toolchains.versions import load_versions

PATIENCE = 5.0
"""Seconds that an index has to answer, once in a process."""


def index_answers(language: str) -> bool | None:
    """Return whether a language's index answers; None for a language that cannot do without one, or has none."""
    index = load_versions(language).index
    return _answers(f"{(os.environ.get(index.variable) or index.url).rstrip('/')}{index.probe}") if index else None


@cache
def _answers(url: str) -> bool:
    try:
        with open_url(url, {}, PATIENCE) as answer:
            return bool(answer.status == 200)
    except (EnvironmentFailure, ValueError):
        return False
