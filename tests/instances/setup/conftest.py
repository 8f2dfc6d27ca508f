"""Projects that set-up looks at, written as a person would."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import pytest

from assay.instances.setup.project import Project
from assay.instances.setup.project_facts import Facts, read_facts

DAY = datetime(2021, 6, 1, tzinfo=UTC)
PYTHONS = ("3.6", "3.9", "3.11", "3.13")


@pytest.fixture
def project() -> Callable[..., Project]:
    """Make a project of texts by path; other paths have no text."""

    def make(texts: Mapping[str, str], *paths: str, language: str = "python", day: datetime = DAY) -> Project:
        return Project("acme/calc", language, day, (*texts, *paths), dict(texts))

    return make


@pytest.fixture
def facts(project: Callable[..., Project]) -> Callable[..., Facts]:
    """Read the facts of such a project, with some versions of its language to choose from."""

    def make(
        texts: Mapping[str, str], *paths: str, language: str = "python", available: tuple[str, ...] = PYTHONS
    ) -> Facts:
        return read_facts(project(texts, *paths, language=language), available)

    return make
