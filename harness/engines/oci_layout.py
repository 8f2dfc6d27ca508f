"""Names and documents of an image archive: OCI's own, and the list that ``docker load`` reads."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LAYOUT = "oci-layout"
INDEX = "index.json"
DOCKER_LIST = "manifest.json"
BLOBS = "blobs/sha256/"
IMAGE_INDEX = "application/vnd.oci.image.index.v1+json"
IMAGE_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
IMAGE_CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
REF_NAME = "org.opencontainers.image.ref.name"
CONTAINERD_NAME = "io.containerd.image.name"
NAME = "dev.assay.image"
"""Annotation of an image: its name on an engine, which OCI's own grammar does not always allow."""
CACHE = "dev.assay.cache"
"""Annotation of the index: digest of a tar with files of Assay's cache that belong to the images."""
ASSAY_VERSION = "dev.assay.version"


@dataclass(frozen=True, slots=True)
class Blob:
    """A file of an archive, named by its content."""

    digest: str
    """SHA-256 in hex."""
    size: int

    @property
    def path(self) -> str:
        return f"{BLOBS}{self.digest}"

    def describe(self, media_type: str) -> dict[str, Any]:
        return {"mediaType": media_type, "digest": f"sha256:{self.digest}", "size": self.size}


def read_blob(descriptor: Mapping[str, Any]) -> Blob:
    """Return the blob to which a document refers; raises KeyError, TypeError or ValueError for another form."""
    return Blob(str(descriptor["digest"]).removeprefix("sha256:"), int(descriptor["size"]))


@dataclass(frozen=True, slots=True)
class ArchivedImage:
    name: str
    config: Blob
    layers: tuple[Blob, ...]
    """The lowest first, compressed."""
    manifest: Blob

    @property
    def digest(self) -> str:
        return f"sha256:{self.config.digest}"


def make_manifest(config: Blob, layers: Sequence[Blob]) -> bytes:
    return dump_json(
        {
            "schemaVersion": 2,
            "mediaType": IMAGE_MANIFEST,
            "config": config.describe(IMAGE_CONFIG),
            "layers": [layer.describe(LAYER) for layer in layers],
        }
    )


def read_manifest(manifest: bytes) -> tuple[Blob, tuple[Blob, ...]]:
    """Return an image's configuration and its layers; raises as ``read_blob``."""
    document = json.loads(manifest)
    return read_blob(document["config"]), tuple(map(read_blob, document["layers"]))


def make_index(images: Sequence[ArchivedImage], annotations: Mapping[str, str]) -> bytes:
    entries = [
        image.manifest.describe(IMAGE_MANIFEST) | {"annotations": make_annotations(image.name)} for image in images
    ]
    return dump_json(
        {"schemaVersion": 2, "mediaType": IMAGE_INDEX, "manifests": entries, "annotations": dict(annotations)}
    )


def make_annotations(name: str) -> dict[str, str]:
    """Name an image as each reader of archives looks for it."""
    host, slash, _ = name.partition("/")
    full = name if slash and (set(host) & {".", ":"} or host == "localhost") else f"docker.io/{name}"
    return {NAME: name, REF_NAME: name.replace("__", "--"), CONTAINERD_NAME: full}


def docker_list(images: Sequence[ArchivedImage]) -> bytes:
    """Make the list of images that ``docker load`` reads."""
    return dump_json(
        [
            {"Config": image.config.path, "RepoTags": [image.name], "Layers": [layer.path for layer in image.layers]}
            for image in images
        ]
    )


def dump_json(document: object) -> bytes:
    """Write a document as JSON, always in the same bytes."""
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
