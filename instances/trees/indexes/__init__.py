"""Package indexes by name, and the download of a release archive from any of them.

To add one, write a module that satisfies ``base.Index`` and name it here and in ``Archive.index``.
"""

import hashlib
from pathlib import Path
from typing import IO

from assay.harness.domain import Archive
from assay.harness.files import atomic_file
from assay.instances.toolchains.ensure import scratch_folder
from assay.instances.toolchains.images import UserImages
from assay.instances.trees.indexes import crates, go, npm, pypi
from assay.instances.trees.indexes.base import Index, IndexedRelease, WrongArchive

__all__ = ["INDEXES", "Index", "IndexedRelease", "WrongArchive", "archive_file", "download", "first_download"]

INDEXES: dict[str, Index] = {pypi.NAME: pypi, go.NAME: go, crates.NAME: crates, npm.NAME: npm}


def archive_file(archive: Archive, cache: Path) -> Path:
    return cache / "archives" / f"{archive.sha256}.tar"


def download(archive: Archive, cache: Path, images: UserImages) -> Path:
    """Fetch an archive into the cache, unless it is there, and verify it.

    ``images`` are the user's own toolchain images, for a package client that this machine lacks.

    Raises:
        WrongArchive: no such release, or other bytes than the data set names.
        EnvironmentFailure: the index does not answer, or there is no client for it.
    """
    kept = archive_file(archive, cache)
    if kept.is_file():
        return kept
    with atomic_file(kept) as part:
        found = _fetch(archive, part, cache, images)
        if found != archive.sha256:
            problem = f"the index's {archive.name} {archive.version} has sha256 {found}, the data set says"
            raise WrongArchive(f"{problem} {archive.sha256}; correct the release or its sha256", "sha256")
    return kept


def first_download(archive: Archive, cache: Path, images: UserImages) -> Archive:
    """Fetch an archive whose hash nobody knows yet; return it with the hash of what came. Raises as ``download``."""
    with scratch_folder(cache) as folder:
        fetched = Path(folder) / "fetched"
        with fetched.open("w+b") as part:
            found = archive.model_copy(update={"sha256": _fetch(archive, part, cache, images)})
        kept = archive_file(found, cache)
        kept.parent.mkdir(parents=True, exist_ok=True)
        fetched.replace(kept)
    return found


def _fetch(archive: Archive, to: IO[bytes], cache: Path, images: UserImages) -> str:
    INDEXES[archive.index].fetch(archive, to, cache, images)
    to.seek(0)
    return hashlib.file_digest(to, "sha256").hexdigest()  # type: ignore[arg-type]  # it reads
