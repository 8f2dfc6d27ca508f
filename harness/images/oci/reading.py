"""Reads an image archive: checks every byte that counts, and gives images to an engine."""

import json
import tarfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from assay.harness.engines import oci_layout as layout
from assay.harness.engines.oci_layout import ArchivedImage, Blob
from assay.harness.errors import UserError
from assay.harness.images.oci.writing import BLOCK, CHUNK, header


class Damaged(UserError):
    """An archive is not as it was written; names the damage."""

    def __init__(self, file: Path, problem: str) -> None:
        super().__init__(f"{file}: {problem}; copy or export it again")


@dataclass(frozen=True, slots=True)
class Contents:
    """What an archive holds, as its index says."""

    images: tuple[ArchivedImage, ...]
    annotations: dict[str, str]
    cache: Blob | None


@contextmanager
def open_archive(file: Path) -> Iterator["ArchiveReader"]:
    """Open an archive and read its index; raises OSError, Damaged."""
    try:
        with tarfile.open(file, mode="r:") as tar:
            yield ArchiveReader(file, tar)
    except tarfile.TarError as error:
        raise Damaged(file, f"is no archive of images, or was cut off ({error})") from error


class ArchiveReader:
    """Reads an open archive; raises Damaged wherever it is not whole."""

    def __init__(self, path: Path, tar: tarfile.TarFile) -> None:
        self._path, self._tar = path, tar
        self._members = {member.name: member for member in tar if member.isreg()}
        if layout.INDEX not in self._members:
            raise Damaged(path, f"has no {layout.INDEX}: it was cut off, or is no archive of images")
        self.contents = self._contents()

    def check(self, progress: Callable[[int], None] = lambda _bytes: None) -> None:
        """Compare every blob of every image with its digest; ``progress`` gets the bytes of each."""
        for blob in self.blobs(self.contents.images):
            with self._open(blob) as file:
                digest = sha256()
                while chunk := file.read(CHUNK):
                    digest.update(chunk)
            if digest.hexdigest() != blob.digest:
                raise Damaged(self._path, f"{blob.path} has other bytes than its name says")
            progress(blob.size)

    def read(self, blob: Blob) -> bytes:
        with self._open(blob) as file:
            content = file.read()
        if sha256(content).hexdigest() != blob.digest:
            raise Damaged(self._path, f"{blob.path} has other bytes than its name says")
        return content

    def blobs(self, images: Sequence[ArchivedImage]) -> list[Blob]:
        found = {blob.digest: blob for image in images for blob in (image.manifest, image.config, *image.layers)}
        return list(found.values())

    def stream_images(self, images: Sequence[ArchivedImage]) -> Iterator[bytes]:
        """Yield these images as an archive that any engine loads."""
        listed = layout.docker_list(images)
        yield header(layout.DOCKER_LIST, len(listed)) + listed + b"\0" * (-len(listed) % BLOCK)
        for blob in self.blobs(images):
            yield header(blob.path, blob.size)
            with self._open(blob) as file:
                while chunk := file.read(CHUNK):
                    yield chunk
            yield b"\0" * (-blob.size % BLOCK)
        yield b"\0" * 2 * BLOCK

    def _contents(self) -> Contents:
        try:
            content = self._tar.extractfile(self._members[layout.INDEX])
            index = json.loads(content.read() if content else b"")
            images = tuple(self._image(entry) for entry in index["manifests"])
            annotations = {str(key): str(value) for key, value in index.get("annotations", {}).items()}
            cache = annotations.get(layout.CACHE, "").removeprefix("sha256:")
            member = self._members.get(f"{layout.BLOBS}{cache}") if cache else None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Damaged(self._path, f"{layout.INDEX} cannot be read ({error})") from error
        if cache and member is None:
            raise Damaged(self._path, f"{layout.BLOBS}{cache} is missing")
        return Contents(images, annotations, Blob(cache, member.size) if member else None)

    def _image(self, entry: dict[str, Any]) -> ArchivedImage:
        manifest = layout.read_blob(entry)
        config, layers = layout.read_manifest(self.read(manifest))
        return ArchivedImage(entry["annotations"][layout.NAME], config, layers, manifest)

    def _open(self, blob: Blob) -> IO[bytes]:
        member = self._members.get(blob.path)
        if member is None or member.size != blob.size:
            raise Damaged(self._path, f"{blob.path} is {'missing' if member is None else 'cut off'}")
        found = self._tar.extractfile(member)
        assert found is not None
        return found
