"""Writes an image archive: from what an engine saves, with every layer once."""

import json
import os
import posixpath
import tarfile
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from pydantic import Field

from assay.harness.closing import Closing
from assay.harness.domain import Model
from assay.harness.engines import oci_layout as layout
from assay.harness.engines.layers import ChunkStream, Readable, read_chunks
from assay.harness.engines.oci_layout import ArchivedImage, Blob
from assay.harness.errors import EngineError
from assay.harness.files import read_model, replace_file, sync_folder

CHUNK = 1024 * 1024
LEVEL = 3  # level of gzip: a third faster than the usual six, for archives that are a few percent larger
GZIP = 31  # what zlib calls a window of 32 kB with gzip's header
SMALL = 16 * CHUNK  # bytes of a document at most; anything larger is a layer
USTAR = slice(257, 262)  # every tar that is not empty says so here
BLOCK = 512


class Written(Model):
    """What the unfinished file of an archive holds up to an offset, so that writing resumes there."""

    offset: int = 0
    layers: dict[str, tuple[str, int]] = Field(default_factory=dict)
    """Digest of the uncompressed layer to digest and size of the blob."""
    images: dict[str, tuple[str, str, int]] = Field(default_factory=dict)
    """Name to digest of the config, and digest and size of the manifest."""


class ArchiveWriter(Closing):
    """Writes one archive; what ``add`` has taken survives a crash, and the same file continues from there."""

    def __init__(self, file: Path) -> None:
        """Open the unfinished file beside the archive, or begin it."""
        self._file, self._part = file, file.with_name(f"{file.name}.part")
        self._state_file = file.with_name(f"{file.name}.part.json")
        state = read_model(self._state_file, Written) if self._part.is_file() else None
        self._state = state if state and state.offset <= self._part.stat().st_size else Written()
        self._part.parent.mkdir(parents=True, exist_ok=True)
        self._out: IO[bytes] = self._part.open("r+b" if self._part.exists() else "w+b")
        self._out.truncate(self._state.offset)
        self._out.seek(self._state.offset)
        self._blobs: dict[str, Blob] = {digest: Blob(digest, size) for digest, size in self._state.layers.values()}
        self._images: dict[str, ArchivedImage] = {}
        self._paths: dict[str, str] = {}
        """Path in an engine's archive to digest of the uncompressed layer; engines name layers by content."""
        if not self._state.offset:
            self._add_file(layout.LAYOUT, b'{"imageLayoutVersion":"1.0.0"}')

    @property
    def images(self) -> dict[str, str]:
        """The ids of the images that are in the file, by name."""
        return {name: f"sha256:{config}" for name, (config, _, _) in self._state.images.items()}

    def add(self, saved: Iterable[bytes]) -> None:
        """Add the images of an archive in the form of ``docker save``; raises EngineError if it is broken."""
        documents: dict[str, bytes] = {}
        links: dict[str, str] = {}
        try:
            with tarfile.open(fileobj=ChunkStream(saved), mode="r|") as tar:
                for member in tar:
                    self._take(tar, member, documents, links)
            images = json.loads(documents[layout.DOCKER_LIST])
        except (tarfile.TarError, KeyError, ValueError) as error:
            raise EngineError(f"the engine's archive of images is broken: {error}") from error
        for path, target in links.items():
            self._paths[path] = self._paths[target]
        for image in images:
            for name in image["RepoTags"] or ():
                self._add_image(name, documents[image["Config"]], image["Layers"])
        self._out.flush()
        os.fsync(self._out.fileno())
        self._state = self._state.model_copy(update={"offset": self._out.tell()})
        replace_file(self._state_file, self._state.model_dump_json().encode())

    def finish(self, names: Sequence[str], cache: bytes, annotations: Mapping[str, str]) -> None:
        """Write the index of these images, and give the file its name."""
        images = [self._load_image(name) for name in names]
        annotations = {**annotations, layout.CACHE: f"sha256:{self._add_blob(cache).digest}"}
        self._add_file(layout.DOCKER_LIST, layout.docker_list(images))
        self._add_file(layout.INDEX, layout.make_index(images, annotations))
        self._out.write(b"\0" * 2 * BLOCK)
        self._out.flush()
        os.fsync(self._out.fileno())
        self._out.close()
        self._part.replace(self._file)
        with suppress(FileNotFoundError):
            self._state_file.unlink()
        sync_folder(self._file.parent)

    def close(self) -> None:
        self._out.close()  # what is unfinished stays for another time

    def _take(
        self, tar: tarfile.TarFile, member: tarfile.TarInfo, documents: dict[str, bytes], links: dict[str, str]
    ) -> None:
        if member.issym() or member.islnk():
            base = posixpath.dirname(member.name) if member.issym() else ""
            links[member.name] = posixpath.normpath(posixpath.join(base, member.linkname))
        if not member.isreg() or member.name in self._paths:
            return
        content = tar.extractfile(member)
        assert content is not None
        head = content.read(BLOCK)
        if member.size < SMALL and head[:1] in (b"{", b"[") and head[USTAR] != b"ustar":
            documents[member.name] = head + content.read()
        elif not member.name.endswith(("/VERSION", "repositories")):
            self._paths[member.name] = self._add_layer(head, content)

    def _add_layer(self, head: bytes, content: Readable) -> str:
        """Compress a layer into the file, unless it is there; return the digest of the uncompressed layer."""
        start = self._out.tell()
        self._out.write(b"\0" * BLOCK)
        plain, squeezed, size = sha256(), sha256(), 0
        for block in compress_chunks(_hash_chunks(read_chunks(head, content, 4 * CHUNK), plain)):
            squeezed.update(block)
            size += self._out.write(block)
        known = self._state.layers.setdefault(plain.hexdigest(), (squeezed.hexdigest(), size))
        if known[0] in self._blobs:
            self._out.seek(start)
            self._out.truncate()
            return plain.hexdigest()
        self._blobs[known[0]] = blob = Blob(*known)
        self._pad(size)
        end = self._out.tell()
        self._out.seek(start)
        self._out.write(header(blob.path, size))
        self._out.seek(end)
        return plain.hexdigest()

    def _add_image(self, name: str, config: bytes, paths: Sequence[str]) -> None:
        found = [self._paths[path] for path in paths]
        wanted = [digest.removeprefix("sha256:") for digest in json.loads(config)["rootfs"]["diff_ids"]]
        if found != wanted:
            raise EngineError(f"the engine's archive has other layers of {name} than the image itself names")
        layers = [Blob(*self._state.layers[digest]) for digest in found]
        kept = self._add_blob(config)
        manifest = self._add_blob(layout.make_manifest(kept, layers))
        self._images[name] = ArchivedImage(name, kept, tuple(layers), manifest)
        self._state.images[name] = (kept.digest, manifest.digest, manifest.size)

    def _load_image(self, name: str) -> ArchivedImage:
        """Find an image that has been added, now or by an earlier process."""
        if name not in self._images:
            _, digest, size = self._state.images[name]
            manifest = Blob(digest, size)
            config, layers = layout.read_manifest(self._read(manifest))
            self._images[name] = ArchivedImage(name, config, layers, manifest)
        return self._images[name]

    def _read(self, blob: Blob) -> bytes:
        with tarfile.open(self._part, mode="r:") as tar:
            content = tar.extractfile(blob.path)
            return content.read() if content else b""

    def _add_blob(self, content: bytes) -> Blob:
        blob = Blob(sha256(content).hexdigest(), len(content))
        if blob.digest not in self._blobs:
            self._blobs[blob.digest] = blob
            self._add_file(blob.path, content)
        return blob

    def _add_file(self, path: str, content: bytes) -> None:
        self._out.write(header(path, len(content)) + content)
        self._pad(len(content))

    def _pad(self, size: int) -> None:
        self._out.write(b"\0" * (-size % BLOCK))


def header(path: str, size: int) -> bytes:
    """Make the header of a file in a tar; one of 8 GB or more still fits into one block."""
    entry = tarfile.TarInfo(path)
    entry.size, entry.mode = size, 0o644
    return entry.tobuf(format=tarfile.GNU_FORMAT)


def compress_chunks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Compress chunks side by side; equal chunks give equal bytes on every machine with this zlib."""
    workers = os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[bytes]] = deque()
        for chunk in chunks:
            waiting.append(pool.submit(zlib.compress, chunk, LEVEL, GZIP))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _hash_chunks(chunks: Iterable[bytes], digest: Any) -> Iterator[bytes]:
    for chunk in chunks:
        digest.update(chunk)
        yield chunk
