"""What every package index offers: the archive of a release, byte for byte."""

from pathlib import Path
from typing import IO, Protocol

from assay.harness.domain import Archive
from assay.harness.errors import EnvironmentFailure
from assay.instances.toolchains.images import UserImages


class WrongArchive(EnvironmentFailure):
    """The index answers, but has no such release or other bytes; ``field`` of the archive's name is wrong."""

    def __init__(self, problem: str, field: str) -> None:
        super().__init__(problem)
        self.field = field


class Index(Protocol):
    """One kind of package index."""

    NAME: str
    PACKAGING: tuple[str, ...]
    """Patterns (``*`` matches ``/`` too) of files that differ between releases without anybody having changed them."""

    def fetch(self, archive: Archive, to: IO[bytes], cache: Path, images: UserImages, /) -> None:
        """Write the archive of a release, unchecked and with nothing that it holds having been run.

        Args:
            archive: which release.
            to: where to write it.
            cache: folder for what fetching needs.
            images: the user's own toolchain images, for a client that this machine lacks.

        Raises:
            WrongArchive: there is no such release.
            EnvironmentFailure: the index does not answer, or there is no way to ask it.
        """
        ...
