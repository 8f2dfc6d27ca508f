"""The Protocol of package indexes: each delivers the archive of a release, byte for byte."""

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import IO, Protocol

from assay.harness.domain import Archive, Model
from assay.harness.errors import EnvironmentFailure
from assay.instances.toolchains.images import UserImages


class WrongArchive(EnvironmentFailure):
    """The index answers, but lacks the release or has other bytes; ``field`` of the ``Archive`` is wrong."""

    def __init__(self, problem: str, field: str) -> None:
        super().__init__(problem)
        self.field = field


class IndexedRelease(Model):
    version: str
    date: datetime | None = None
    """When it came out; None if the index was not asked."""
    sha256: str = ""
    """The hash of its archive; empty if the index does not say."""


def sort_releases(releases: Iterable[IndexedRelease]) -> list[IndexedRelease]:
    """Sort final releases by the numbers of their versions, lowest first; others are dropped."""
    final = (each for each in releases if re.fullmatch(r"v?\d+(\.\d+)*(\+incompatible)?", each.version))
    return sorted(final, key=lambda each: [int(number) for number in re.findall(r"\d+", each.version)])


class Index(Protocol):
    NAME: str
    LANGUAGE: str
    SURE_OF_DATES: bool
    """Whether the dates of releases are those on which they came out, and never those of a mirror's own copies."""
    PACKAGING: tuple[str, ...]
    """Patterns (``*`` matches ``/`` too) of files that packaging generates anew for every release."""

    def fetch(self, archive: Archive, to: IO[bytes], cache: Path, images: UserImages, /) -> None:
        """Write the archive of a release to a file, unverified; nothing in it may be run for that.

        Raises:
            WrongArchive: there is no such release.
            EnvironmentFailure: the index does not answer, or there is no client for it.
        """
        ...

    def releases(self, name: str, since: date, cache: Path, images: UserImages, /) -> Sequence[IndexedRelease]:
        """Return the final releases of a package that were not withdrawn, by version, lowest first.

        Dates are needed from the day ``since``; an index that is asked for each date leaves out earlier ones.

        Raises:
            WrongArchive: there is no such package.
            EnvironmentFailure: the index does not answer, does not give dates, or there is no client for it.
        """
        ...
