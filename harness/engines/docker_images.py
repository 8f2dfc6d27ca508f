"""The images of a Docker engine: found, listed by layer, moved between engines and registries."""

import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.harness.engines.base import LABEL, ImageInfo, ImageLayer
from assay.harness.engines.caps import MIB
from assay.harness.engines.docker_box import engine_errors
from assay.harness.engines.layers import ImageConfig, Layered, OpenLayer, find_layer_folders, read_archive, read_folders
from assay.harness.errors import EngineError, ImageMissing

if TYPE_CHECKING:
    from docker import APIClient

TRANSFER_SECONDS = 3600
"""Seconds that the engine may be silent while it packs or unpacks images, or removes many layers."""
REGISTRY_SECONDS = 5.0  # seconds for a registry to answer what an image's digest is
ABSENT = frozenset({401, 403, 404})
"""Answers of a registry that lacks an image; some do not say whether it exists or is not allowed."""


PREFIX = re.compile(r"^(?:localhost|docker\.io)/")
"""What podman puts before the names of images of no registry; it finds them without."""


class DockerImages:
    """What an engine can do with images; see the Engine Protocol for the methods."""

    def __init__(self, client: "APIClient") -> None:
        self._client = client
        self.layered: Layered | None = self
        self._asking = threading.Lock()
        self._asked: dict[str, str | EngineError] = {}
        """Answers of registries by image, and why a registry does not answer by its host."""

    def find_image(self, name: str) -> ImageInfo | None:
        try:
            with engine_errors():
                raw = self._client.inspect_image(name)  # type: ignore[no-untyped-call]
        except ImageMissing:
            return None
        labels = (raw.get("Config") or {}).get("Labels") or {}
        return ImageInfo(name, raw["Id"], raw.get("Size", 0), raw.get("Created", ""), labels)

    def list_images(self) -> list[ImageInfo]:
        with engine_errors():
            found = self._client.images(filters={"label": f"{LABEL}.kind"})
        tagged = [(tag, image) for image in found for tag in image.get("RepoTags") or () if "<none>" not in tag]
        named = [(PREFIX.sub("", tag), image) for tag, image in tagged]
        return [
            ImageInfo(PREFIX.sub("", tag), image["Id"], image["Size"], str(image["Created"]), image.get("Labels") or {})
            for tag, image in sorted(named, key=lambda pair: pair[0])
        ]

    def hash_images(self) -> str:
        with engine_errors():
            found = self._client.images()
        named = sorted((image["Id"], sorted(image.get("RepoTags") or ())) for image in found)
        return sha256(repr(named).encode()).hexdigest()

    def pull(self, name: str) -> ImageInfo:
        try:
            with engine_errors():
                self._client.pull(name)
        except EngineError as error:
            raise ImageMissing(f"image {name} is not here and cannot be pulled: {error}") from error
        info = self.find_image(name)
        if info is None:
            raise ImageMissing(f"image {name} was pulled but is not here")
        return info

    def remote_digest(self, name: str) -> str:
        """Ask once for an image, and no registry again that did not answer."""
        host = name.partition("/")[0]
        with self._asking:
            known = self._asked.get(host) or self._asked.get(name)
            if known is None:
                known = self._ask_registry(name)
                silent = isinstance(known, EngineError) and not isinstance(known, ImageMissing)
                self._asked[host if silent else name] = known
        if isinstance(known, EngineError):
            raise known
        return known

    def _ask_registry(self, name: str) -> str | EngineError:
        try:
            with engine_errors():
                answer = self._client.get(self._url(f"distribution/{name}/json"), timeout=REGISTRY_SECONDS)
                if answer.status_code < 400:
                    return str(answer.json()["Descriptor"]["digest"])
        except EngineError as error:
            return error
        kind = ImageMissing if answer.status_code in ABSENT else EngineError
        return kind(_problem(answer.text))

    def import_image(self, name: str, tar: Path, labels: Mapping[str, str]) -> None:
        changes = [f"LABEL {key}={value}" for key, value in labels.items()]
        with engine_errors():  # podman forgets a tag that is not part of the name
            self._client.import_image_from_file(str(tar), repository=name, changes=changes)

    def remove_image(self, name: str) -> None:
        with suppress(ImageMissing), engine_errors():
            self._client.remove_image(name, force=True)

    def drop_build_cache(self) -> int:
        url = self._url("build/prune")  # the SDK's own method gives up too soon
        with engine_errors():
            answer = self._client.post(url, params={"filters": '{"type":["regular"]}'}, timeout=TRANSFER_SECONDS)
            if answer.status_code == 404:  # podman keeps no such cache
                return 0
            answer.raise_for_status()
            return int(answer.json().get("SpaceReclaimed") or 0)

    def layers(self, name: str) -> tuple[ImageLayer, ...]:
        try:
            with engine_errors():
                digests = self._client.inspect_image(name)["RootFS"].get("Layers") or []  # type: ignore[no-untyped-call]
                steps = self._client.history(name)  # type: ignore[no-untyped-call]
        except ImageMissing:
            return ()
        return chain_layers(digests, layer_sizes(steps, len(digests)))

    def image_config(self, name: str) -> ImageConfig:
        with engine_errors():
            raw = self._client.inspect_image(name)  # type: ignore[no-untyped-call]
            steps = self._client.history(name)  # type: ignore[no-untyped-call]
        config = raw.get("Config") or {}
        return ImageConfig(
            layers=tuple(raw["RootFS"].get("Layers") or ()),
            env=tuple(config.get("Env") or ()),
            labels=config.get("Labels") or {},
            history=tuple(step.get("CreatedBy") or "" for step in reversed(steps)),
            workdir=config.get("WorkingDir") or "/",
        )

    def read_layers(self, name: str, wants: Callable[[str], bool]) -> Iterator[OpenLayer]:
        with engine_errors():
            raw = self._client.inspect_image(name)  # type: ignore[no-untyped-call]
        digests, folders = raw["RootFS"].get("Layers") or [], find_layer_folders(raw.get("GraphDriver") or {})
        if len(folders) == len(digests):
            yield from read_folders(digests, folders, wants)
        else:
            with self.save([name]) as archive:
                yield from read_archive(archive, wants)

    def push(self, name: str) -> None:
        with engine_errors():
            for answer in self._client.push(name, stream=True, decode=True):
                if answer.get("error"):
                    raise EngineError(f"{name} cannot be pushed: {answer['error']}")

    def tag(self, name: str, other: str) -> None:
        repository, _, tag = other.rpartition(":")
        with engine_errors():
            self._client.tag(name, repository, tag)

    @contextmanager
    def save(self, names: Sequence[str]) -> Iterator[Iterator[bytes]]:
        url = self._url("images/get")  # the SDK's own method takes only one image
        with engine_errors():
            answer = self._client.get(url, params={"names": list(names)}, stream=True, timeout=TRANSFER_SECONDS)
            if answer.status_code == 404:
                raise ImageMissing(_problem(answer.text))
            answer.raise_for_status()
            try:
                yield answer.iter_content(MIB)
            finally:
                answer.close()

    def load(self, archive: Iterable[bytes]) -> None:
        url, quiet = self._url("images/load"), {"quiet": "1"}
        with engine_errors():
            answer = self._client.post(url, data=iter(archive), params=quiet, timeout=TRANSFER_SECONDS)
            problem = _problem(answer.text) if answer.status_code >= 400 else _stream_error(answer.text)
        if problem:
            raise EngineError(f"the engine does not take the images: {problem}")

    def _url(self, path: str) -> str:
        return f"{self._client.base_url}/v{self._client.api_version}/{path}"


def chain_layers(digests: Sequence[str], sizes: Sequence[int]) -> tuple[ImageLayer, ...]:
    """Name layers after their digest and those of all below."""
    found, below = [], ""
    for digest, size in zip(digests, sizes, strict=True):
        below = sha256(f"{below}{digest}".encode()).hexdigest()
        found.append(ImageLayer(below, size))
    return tuple(found)


def layer_sizes(steps: Sequence[Mapping[str, Any]], count: int) -> list[int]:
    """Return the sizes of an image's ``count`` layers, the lowest first, from its history, the newest step first.

    Steps without bytes may have made a layer or not, and the engine does not say which. The most likely ones are taken,
    so that the others are at their places.
    """
    oldest_first = list(reversed(steps))
    likely = sorted(range(len(oldest_first)), key=lambda number: (_rank(oldest_first[number]), number))
    sizes = [oldest_first[number]["Size"] for number in sorted(likely[:count])]
    return [0] * (count - len(sizes)) + sizes


def _rank(step: Mapping[str, Any]) -> int:
    """Return 0 for a step that made a layer; the higher, the less likely one did."""
    if step["Size"]:
        return 0
    words = (step.get("CreatedBy") or "").removeprefix("/bin/sh -c #(nop)").split()
    if words[:1] == ["WORKDIR"]:
        return 2
    return 3 if words[:1] and words[0].isupper() and words[0] not in {"RUN", "COPY", "ADD"} else 1


def _stream_error(text: str) -> str:
    """Find the error in an answer that is one JSON object a line; "" if there is none."""
    for line in text.splitlines():
        with suppress(ValueError):
            if problem := json.loads(line).get("error"):
                return str(problem)
    return ""


def _problem(text: str) -> str:
    """Read the message of an engine's answer; podman also answers in plain text."""
    with suppress(ValueError, AttributeError):
        return str(json.loads(text)["message"])
    return text.strip()
