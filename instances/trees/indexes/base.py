"""The Protocol of package indexes: each delivers the archive of a release, byte for byte."""

from pathlib import Path
from typing import IO, Protocol

from assay.harness.domain import Archive
from assay.harness.errors import EnvironmentFailure
from assay.instances.toolchains.images import UserImages


class WrongArchive(EnvironmentFailure):
    """The index answers, but lacks the release or has other bytes; ``field`` of the ``Archive`` is wrong."""

    def __init__(self, problem: str, field: str) -> None:
        super().__init__(problem)
        self.field = field


class Index(Protocol):
    """One kind of package index."""

    NAME: str
    PACKAGING: tuple[str, ...]
    """Patterns (``*`` matches ``/`` too) of files that packaging generates anew for every release."""

    def fetch(self, archive: Archive, to: IO[bytes], cache: Path, images: UserImages, /) -> None:
        """Write the archive of a release, unverified; nothing in it may be run for that.

        Args:
            archive: the release.
            to: file to write to.
            cache: folder for temporary files.
            images: the user's own toolchain images, for a package client that this machine lacks.

        Raises:
            WrongArchive: there is no such release.
            EnvironmentFailure: the index does not answer, or there is no client for it.
        """
        ...
