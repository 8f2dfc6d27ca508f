"""Archives of images as engines of different age save them, and the images in them."""

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Saved:
    """An image: its name and its uncompressed layers."""

    name: str
    layers: tuple[bytes, ...]

    @property
    def config(self) -> bytes:
        digests = [f"sha256:{hashlib.sha256(layer).hexdigest()}" for layer in self.layers]
        return json.dumps({"rootfs": {"type": "layers", "diff_ids": digests}, "of": self.name}).encode()

    @property
    def digest(self) -> str:
        return f"sha256:{hashlib.sha256(self.config).hexdigest()}"


def make_tar(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def tree(folder: Path, **files: str) -> Path:
    """Write a tree with some files whose names have two underscores for a dot."""
    path = folder / "tree.tar"
    path.write_bytes(make_tar({name.replace("__", "."): text.encode() for name, text in files.items()}))
    return path


def layer(**files: str) -> bytes:
    """Return a layer with some files."""
    return make_tar({name: text.encode() for name, text in files.items()})


def saved_by_old_engine(images: Sequence[Saved]) -> list[bytes]:
    """Return what ``docker save`` of 20.10 gives: a folder for each layer, a link for a layer that is there twice."""
    files: dict[str, bytes] = {}
    links: dict[str, str] = {}
    listed = []
    first: dict[bytes, str] = {}
    for image in images:
        paths = []
        below = ""
        for content in image.layers:
            below = hashlib.sha256(below.encode() + content).hexdigest()
            path = f"{below}/layer.tar"
            files |= {f"{below}/VERSION": b"1.0", f"{below}/json": b'{"id":"x"}'}
            if first.setdefault(content, path) != path:
                links[path] = f"../{first[content]}"
            else:
                files[path] = content
            paths.append(path)
        config = f"{image.digest.removeprefix('sha256:')}.json"
        files[config] = image.config
        listed.append({"Config": config, "RepoTags": [image.name], "Layers": paths})
    return _tar({**files, "manifest.json": json.dumps(listed).encode(), "repositories": b"{}"}, links)


def saved_by_new_engine(images: Sequence[Saved]) -> list[bytes]:
    """Return what ``docker save`` of 25 gives: blobs by digest, documents and layers side by side."""
    files: dict[str, bytes] = {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}', "index.json": b'{"schemaVersion":2}'}
    listed = []
    for image in images:
        paths = [f"blobs/sha256/{hashlib.sha256(content).hexdigest()}" for content in image.layers]
        files |= dict(zip(paths, image.layers, strict=True))
        config = f"blobs/sha256/{image.digest.removeprefix('sha256:')}"
        files[config] = image.config
        listed.append({"Config": config, "RepoTags": [image.name], "Layers": paths})
    return _tar({**files, "manifest.json": json.dumps(listed).encode()}, {})


def _tar(files: Mapping[str, bytes], links: Mapping[str, str]) -> list[bytes]:
    """Return a tar with sorted names, as engines write it, in pieces."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name in sorted({*files, *links}):
            entry = tarfile.TarInfo(name)
            if name in links:
                entry.type, entry.linkname = tarfile.SYMTYPE, links[name]
                tar.addfile(entry)
            else:
                entry.size = len(files[name])
                tar.addfile(entry, io.BytesIO(files[name]))
    whole = packed.getvalue()
    return [whole[start : start + 1000] for start in range(0, len(whole), 1000)]
