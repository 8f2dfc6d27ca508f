"""A gem index and a Composer repository with one package of three dates each, served on this machine."""

import gzip
import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from assay.harness.engines.doctor import _own_address

RELEASES = {"1.0.0": "2021-03-01T00:00:00Z", "1.1.0": "2022-03-01T00:00:00Z", "2.0.0": "2024-03-01T00:00:00Z"}
"""Versions of ``pebble``, and of ``acme/pebble``, by the time at which they came out; each says its version."""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_args: object) -> None:
        pass


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve a folder at the address by which containers reach this machine; yields the URL."""
    with ThreadingHTTPServer((_own_address(), 0), partial(_Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{server.server_address[0]!s}:{server.server_port}"
        server.shutdown()


def write_gem_index(folder: Path) -> None:
    """Write a compact index, with the times where RubyGems' API has them."""
    lines, rows = [], []
    for version, time in RELEASES.items():
        gem = _pack_gem(version)
        _write(folder / f"gems/pebble-{version}.gem", gem)
        lines.append(f"{version} |checksum:{hashlib.sha256(gem).hexdigest()}")
        rows.append({"number": version, "platform": "ruby", "created_at": time})
    info = "\n".join(["---", *lines, ""])
    _write(folder / "info/pebble", info.encode())
    _write(folder / "info/rake", b"---\n")  # what is looked for to see whether the index answers
    digest = hashlib.md5(info.encode(), usedforsecurity=False).hexdigest()
    _write(
        folder / "versions", f"created_at: {RELEASES['2.0.0']}\n---\npebble {','.join(RELEASES)} {digest}\n".encode()
    )
    _write(folder / "api/v1/versions/pebble.json", json.dumps(rows).encode())


def write_composer_repository(folder: Path, url: str) -> None:
    """Write a repository in the form of Packagist's, whose versions name only what differs from the one before."""
    versions = []
    for version, time in sorted(RELEASES.items(), reverse=True):
        archive = _pack_zip(version)
        _write(folder / f"dist/{version}.zip", archive)
        dist = {"type": "zip", "url": f"{url}/dist/{version}.zip", "shasum": hashlib.sha1(archive).hexdigest()}
        versions.append({"version": version, "version_normalized": f"{version}.0", "time": time, "dist": dist})
    versions[0] |= {"name": "acme/pebble", "type": "library", "autoload": {"psr-4": {"Acme\\": "src/"}}}
    found = {"packages": {"acme/pebble": versions}, "minified": "composer/2.0"}
    _write(folder / "p2/acme/pebble.json", json.dumps(found).encode())
    _write(folder / "packages.json", json.dumps({"packages": [], "metadata-url": "/p2/%package%.json"}).encode())


def _pack_gem(version: str) -> bytes:
    source = f'module Pebble\n  VERSION = "{version}"\nend\n'.encode()
    metadata = f"""--- !ruby/object:Gem::Specification
name: pebble
version: !ruby/object:Gem::Version
  version: {version}
platform: ruby
authors: [t]
summary: A stone.
files: [lib/pebble.rb]
require_paths: [lib]
specification_version: 4
rubygems_version: 3.3.0
"""
    data = gzip.compress(_pack_tar({"lib/pebble.rb": source}), mtime=0)
    return _pack_tar({"metadata.gz": gzip.compress(metadata.encode(), mtime=0), "data.tar.gz": data})


def _pack_tar(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def _pack_zip(version: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("pebble/composer.json", '{"name": "acme/pebble", "autoload": {"psr-4": {"Acme\\\\": "src/"}}}')
        archive.writestr(
            "pebble/src/Pebble.php", f"<?php namespace Acme; class Pebble {{ const VERSION = '{version}'; }}"
        )
    return packed.getvalue()


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
