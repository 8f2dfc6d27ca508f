"""Fetches files by URL: binary files of tests, which a textual patch cannot carry, and what a recipe downloads."""

import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote, urlsplit

from assay.harness.domain import Asset, Download, TreeRef
from assay.harness.errors import EnvironmentFailure
from assay.harness.files import replace_file
from assay.instances.toolchains.downloads import open_url
from assay.instances.trees.sources import Sources

_RAW = re.compile(r"/([^/]+/[^/]+)/(?:raw/)?([0-9a-f]{40})/(.+)")
"""Path of a URL that names a file of a repository at a commit: repository, commit, path."""


@dataclass(frozen=True, slots=True)
class Assets:
    """The binary files of one instance, fetched when called."""

    assets: tuple[Asset, ...]
    sources: Sources

    def __call__(self) -> dict[str, bytes]:
        """Fetch every file, path in the tree to content; raises EnvironmentFailure if one cannot be fetched."""
        return {asset.path: fetch(asset, self.sources) for asset in self.assets}


def fetch(asset: Asset | Download, sources: Sources) -> bytes:
    """Read a file from the cache, from a mirror of its URL's repository, or from the URL; raises EnvironmentFailure."""
    kept = asset_file(asset, sources.cache)
    content = kept.read_bytes() if kept.is_file() else None
    if content is not None and asset.sha256 in {None, sha256(content).hexdigest()}:
        return content
    content = _read_mirror(asset, sources)  # also in place of what an address had before
    content = _read_url(asset) if content is None else content
    found = sha256(content).hexdigest()
    if asset.sha256 not in {None, found}:
        kept.unlink(missing_ok=True)
        raise EnvironmentFailure(f"{asset.path}: {asset.url} has sha256 {found}, not {asset.sha256}")
    replace_file(kept, content)
    return content


def asset_file(asset: Asset | Download, cache: Path) -> Path:
    return cache / "assets" / sha256(asset.url.encode()).hexdigest()


def _read_mirror(asset: Asset | Download, sources: Sources) -> bytes | None:
    match = _RAW.fullmatch(unquote(urlsplit(asset.url).path))
    if match is None:
        return None
    ref = TreeRef(match[1], match[2])
    return sources.read_file(ref, match[3]) if sources.exists(ref) else None


def _read_url(asset: Asset | Download) -> bytes:
    url = urlsplit(asset.url)
    if url.scheme not in {"file", "http", "https"}:
        raise EnvironmentFailure(f"{asset.path}: {asset.url} cannot be fetched; write a file, http or https URL")
    try:
        if url.scheme == "file":
            return Path(unquote(url.path)).read_bytes()
        with open_url(asset.url, {}) as answer:
            return bytes(answer.read())
    except (OSError, EnvironmentFailure, ValueError) as error:
        raise EnvironmentFailure(f"{asset.path}: {asset.url} cannot be fetched: {error}") from None
