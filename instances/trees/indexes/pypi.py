"""Source archives of Python packages.

The link is looked up in the index that uv or pip is set to use. Not by ``pip download``, which builds an archive's
metadata and so runs its code.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from packaging.utils import InvalidSdistFilename, canonicalize_name, parse_sdist_filename
from packaging.version import InvalidVersion, Version

from assay.harness.domain import Archive
from assay.harness.errors import EnvironmentFailure
from assay.instances.toolchains.downloads import open_url
from assay.instances.toolchains.images import UserImages
from assay.instances.trees.indexes.base import IndexedRelease, WrongArchive, sort_releases

NAME = "pypi"
LANGUAGE = "python"
SURE_OF_DATES = True

PACKAGING: tuple[str, ...] = ("*.egg-info/*", "PKG-INFO", "requirements/*")
"""Generated metadata, and pins of the developers' tools.

Not build files (pyproject.toml, setup.cfg ...): they may configure the test runner.
"""

ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"


@dataclass(frozen=True, slots=True)
class IndexFile:
    filename: str
    url: str
    sha256: str = ""
    date: datetime | None = None
    """When it was uploaded; None if the index does not say."""
    yanked: bool = False


def fetch(archive: Archive, to: IO[bytes], _cache: Path, _images: UserImages, /) -> None:
    """Write the file of a release that has the wanted hash, or its source archive."""
    with open_url(find_link(archive).url, {}) as answer:
        shutil.copyfileobj(answer, to)


def find_link(archive: Archive) -> IndexFile:
    """Find a release's file with the right hash, or its source archive; raises WrongArchive, or EnvironmentFailure."""
    links = _links(archive.name)
    found = [link for link in links if link.sha256 == archive.sha256 or _is_release(link.filename, archive)]
    if not found:
        raise WrongArchive(f"the package index has no source archive of {archive.name} {archive.version}", "version")
    return min(found, key=lambda link: link.sha256 != archive.sha256)


def releases(name: str, _since: date, _cache: Path, _images: UserImages, /) -> Sequence[IndexedRelease]:
    found = dict[str, IndexedRelease]()
    for link in _links(name):
        version = _parse_version(link.filename, name)
        if version and not link.yanked:
            found.setdefault(version, IndexedRelease(version=version, date=link.date, sha256=link.sha256))
    if found and not any(each.date for each in found.values()):
        raise EnvironmentFailure(f"the package index does not say when releases of {name} came out")
    return sort_releases(found.values())


def _links(name: str) -> list[IndexFile]:
    page = f"{index_url()}/{canonicalize_name(name)}/"
    with open_url(page, {"Accept": ACCEPT}) as answer:
        is_json = "json" in answer.headers.get("Content-Type", "")
        text = answer.read().decode("utf-8", errors="replace")
    links = _read_json(text) if is_json else _read_html(text)
    return [replace(link, url=urljoin(page, link.url)) for link in links]


def index_url() -> str:
    """Return the URL of the index that uv or pip is set to use, without a slash at the end."""
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"):
        if os.environ.get(name):
            return os.environ[name].rstrip("/")
    named = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "XDG_", "HOME"))}
    return _index_set(tuple(sorted(named.items()))).rstrip("/")


@lru_cache(maxsize=8)
def _index_set(_environ: tuple[tuple[str, str], ...]) -> str:
    """Read the settings of pip, else those of uv, once for each set of variables."""
    return _pip_setting() or _default_of_uv()


def _default_of_uv() -> str:
    """Read uv's default index, which uv prints above a lock, here an empty one."""
    from uv import find_uv_bin

    command = [find_uv_bin(), "pip", "compile", "-", "--emit-index-url", "--offline", "--no-header", "--no-config"]
    done = subprocess.run(command, input="", capture_output=True, text=True, check=False)
    words = done.stdout.split()
    if "--index-url" not in words:
        problem = f"uv does not say which package index it uses ({done.stderr.strip()})"
        raise EnvironmentFailure(f"{problem}; set UV_DEFAULT_INDEX")
    return words[words.index("--index-url") + 1]


def _pip_setting() -> str:
    """Read the index of pip.conf, as pip itself does; empty if there is none, or no pip.

    ``pip config get`` overlooks the file that PIP_CONFIG_FILE names, ``list`` does not.
    """
    command = [sys.executable, "-P", "-m", "pip", "config", "list"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = (line.partition("=") for line in done.stdout.splitlines())
    return next((value.strip("'\"") for name, _, value in lines if name == "global.index-url"), "")


def _is_release(filename: str, archive: Archive) -> bool:
    try:
        version = _parse_version(filename, archive.name)
        return bool(version) and Version(version) == Version(archive.version)
    except InvalidVersion:
        return False


def _parse_version(filename: str, name: str) -> str:
    """Return the version of a source archive of a package; empty for any other file."""
    try:
        found, version = parse_sdist_filename(filename)
    except (InvalidSdistFilename, InvalidVersion):
        return ""
    return str(version) if found == canonicalize_name(name) else ""


def _read_json(text: str) -> list[IndexFile]:
    files = []
    for file in json.loads(text)["files"]:
        moment, sha256 = file.get("upload-time"), file.get("hashes", {}).get("sha256", "")
        uploaded = datetime.fromisoformat(moment) if moment else None
        files.append(IndexFile(file["filename"], file["url"], sha256, uploaded, bool(file.get("yanked"))))
    return files


def _read_html(text: str) -> list[IndexFile]:
    parser = _Anchors()
    parser.feed(text)
    files = []
    for href in parser.hrefs:
        url, fragment = urldefrag(href)
        kind, _, value = fragment.partition("=")
        name = unquote(urlsplit(url).path).rpartition("/")[2]
        files.append(IndexFile(name, url, value if kind == "sha256" else ""))
    return files


class _Anchors(HTMLParser):
    """Collects the targets of a page's links."""

    def __init__(self) -> None:
        super().__init__()
        self.hrefs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.hrefs.extend(value for name, value in attrs if name == "href" and value)
