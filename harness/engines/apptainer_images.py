"""Images of the ``apptainer`` engine: taken from archives, kept by content, made into one file each when first run."""

import json
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, NoReturn
from urllib.parse import quote

from pydantic import Field

from assay.harness.domain import Model
from assay.harness.engines import oci_layout as layout
from assay.harness.engines.apptainer_program import ApptainerProgram
from assay.harness.engines.base import LABEL, ImageInfo, ImageLayer
from assay.harness.engines.oci_layout import Blob
from assay.harness.errors import EngineError, ImageMissing
from assay.harness.files import hold_lock, link_or_copy, read_model, replace_file

CHUNK = 1024 * 1024
BUILD_SECONDS = 3600.0
GZIP = b"\x1f\x8b"
PLAIN_LAYER = layout.LAYER.removesuffix("+gzip")
ONLY_ARCHIVES = (
    "the apptainer engine {}: it runs images that were built elsewhere; write them there with `assay images export`, "
    "and add them here with `assay images import FILE --engine apptainer`"
)


class Record(Model):
    """An image that is kept: its name, and what it is made of."""

    name: str
    digest: str
    """The hash of its configuration: its id on every engine."""
    config_size: int = 0
    layers: tuple[tuple[str, int, str], ...] = ()
    """Digest in hex, bytes as kept and media type; the lowest first."""
    env: tuple[str, ...] = ()
    created: str = ""
    labels: dict[str, str] = Field(default_factory=dict)

    @property
    def info(self) -> ImageInfo:
        return ImageInfo(self.name, self.digest, sum(size for _, size, _ in self.layers), self.created, self.labels)

    @property
    def blobs(self) -> set[str]:
        """Digests in hex of all that it is made of."""
        return {self.digest.removeprefix("sha256:"), *(digest for digest, _, _ in self.layers)}


def _refuse(what: str) -> Any:
    def method(_self: "ApptainerImages", names: str | Sequence[str], *_args: Any, **_options: Any) -> NoReturn:
        about = names if isinstance(names, str) else ", ".join(names)
        raise EngineError(ONLY_ARCHIVES.format(f"{what} ({about})"))

    return method


class ApptainerImages:
    """What the engine can do with images; see the Engine Protocol for the methods."""

    def __init__(self, program: ApptainerProgram, store: Path) -> None:
        """Keep images in a folder, which may be shared by processes and machines."""
        self._program = program
        self._store = store

    def record(self, name: str) -> Record:
        """Read the record of an image; raises ImageMissing."""
        found = read_model(self._file(name), Record)
        if found is None:
            raise ImageMissing(ONLY_ARCHIVES.format(f"has no image {name}"))
        return found

    def runnable(self, record: Record) -> Path:
        """Make the file that boxes of an image run from, unless it is there; raises EngineError."""
        made = self._sif(record.digest)
        if not made.is_file():
            with hold_lock(made.with_suffix(".lock")):
                if not made.is_file():
                    self._make(record, made)
        return made

    def find_image(self, name: str) -> ImageInfo | None:
        found = read_model(self._file(name), Record)
        return found.info if found else None

    def list_images(self) -> list[ImageInfo]:
        return sorted((each.info for each in self._records() if f"{LABEL}.kind" in each.labels), key=lambda i: i.name)

    def layers(self, name: str) -> tuple[ImageLayer, ...]:
        found = read_model(self._file(name), Record)
        below, layers = "", []
        for digest, size, _ in found.layers if found else ():
            below = sha256(f"{below} {digest}".encode()).hexdigest()
            layers.append(ImageLayer(below, size))
        return tuple(layers)

    def load(self, archive: Iterable[bytes]) -> None:
        self._store.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="loading-", dir=self._store) as scratch:
            file = Path(scratch) / "archive.tar"
            with file.open("wb") as saved:
                saved.writelines(archive)
            try:
                with tarfile.open(file) as tar, self._alone():
                    self._take(tar)
            except (tarfile.TarError, KeyError, ValueError, TypeError) as error:
                raise EngineError(f"this is no archive of images: {error}") from error

    def _take(self, tar: tarfile.TarFile) -> None:
        """Keep every image of an archive; its blobs first, so that a listed image is whole."""
        for entry in json.load(_content(tar, layout.DOCKER_LIST)):
            config = json.load(_content(tar, entry["Config"]))
            kept, size = self._keep(_content(tar, entry["Config"]))
            layers = []
            for path in entry["Layers"]:
                is_packed = _content(tar, path).read(len(GZIP)) == GZIP
                layers.append((*self._keep(_content(tar, path)), layout.LAYER if is_packed else PLAIN_LAYER))
            own = config.get("config") or {}
            record = Record(
                name="",
                digest=f"sha256:{kept}",
                config_size=size,
                layers=tuple(layers),
                env=tuple(own.get("Env") or ()),
                created=config.get("created") or "",
                labels=own.get("Labels") or {},
            )
            for name in entry["RepoTags"] or ():
                self._write(record.model_copy(update={"name": name}))

    def _keep(self, content: IO[bytes]) -> tuple[str, int]:
        """Keep some bytes under their hash; return both hash and size."""
        folder, hashed = self._store / "blobs", sha256()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix="new-", delete=False) as file:
            while chunk := content.read(CHUNK):
                hashed.update(chunk)
                file.write(chunk)
            size = file.tell()
        Path(file.name).replace(folder / hashed.hexdigest())
        return hashed.hexdigest(), size

    def _make(self, record: Record, made: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="making-", dir=self._store) as scratch:
            image = Path(scratch) / "image"
            for blob in record.blobs:
                target = image / layout.BLOBS / blob
                target.parent.mkdir(parents=True, exist_ok=True)
                link_or_copy(self._store / "blobs" / blob, target)
            manifest = _manifest(record)
            described = Blob(sha256(manifest).hexdigest(), len(manifest))
            (image / described.path).write_bytes(manifest)
            index = {"schemaVersion": 2, "manifests": [described.describe(layout.IMAGE_MANIFEST)]}
            (image / layout.INDEX).write_bytes(layout.dump_json(index))
            (image / layout.LAYOUT).write_bytes(layout.dump_json({"imageLayoutVersion": "1.0.0"}))
            built = Path(scratch) / "image.sif"
            self._program.run("build", *self._program.as_root, built, f"oci:{image}", seconds=BUILD_SECONDS, at=scratch)
            built.replace(made)

    def tag(self, name: str, other: str) -> None:
        self._write(self.record(name).model_copy(update={"name": other}))

    def remove_image(self, name: str) -> None:
        with self._alone():
            self._file(name).unlink(missing_ok=True)
            left = list(self._records())
            needed = {blob for each in left for blob in each.blobs} | {self._sif(each.digest).name for each in left}
            for folder in ("blobs", "made"):
                for file in (self._store / folder).glob("*"):
                    if file.name not in needed and file.suffix != ".lock":
                        file.unlink(missing_ok=True)

    pull = _refuse("pulls no images")
    remote_digest = _refuse("asks no registry")
    push = _refuse("pushes no images")
    save = _refuse("exports no images")
    import_image = _refuse("makes no images")
    build = _refuse("builds no images")

    def drop_build_cache(self) -> int:
        return 0

    def _alone(self) -> AbstractContextManager[None]:
        """Wait until no other process adds or removes images here."""
        return hold_lock(self._store / "lock")

    def _file(self, name: str) -> Path:
        return self._store / "images" / f"{quote(name, safe='')}.json"

    def _sif(self, digest: str) -> Path:
        return self._store / "made" / f"{digest.removeprefix('sha256:')}.sif"

    def _write(self, record: Record) -> None:
        file = self._file(record.name)
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, record.model_dump_json().encode())

    def _records(self) -> Iterator[Record]:
        for file in (self._store / "images").glob("*.json"):
            if found := read_model(file, Record):
                yield found


def _content(tar: tarfile.TarFile, path: str) -> IO[bytes]:
    found = tar.extractfile(path)  # follows the links by which older engines save a layer once
    if found is None:
        raise ValueError(f"{path} is no file")
    return found


def _manifest(record: Record) -> bytes:
    config = Blob(record.digest.removeprefix("sha256:"), record.config_size)
    layers: list[dict[str, Any]] = [Blob(digest, size).describe(kind) for digest, size, kind in record.layers]
    manifest = {"schemaVersion": 2, "mediaType": layout.IMAGE_MANIFEST, "layers": layers}
    return layout.dump_json({**manifest, "config": config.describe(layout.IMAGE_CONFIG)})
