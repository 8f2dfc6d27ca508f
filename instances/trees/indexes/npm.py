"""Archives of packages for node; few hold their tests."""

import json
import re
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path

from assay.instances.toolchains.images import UserImages
from assay.instances.trees.indexes.base import IndexedRelease, sort_releases
from assay.instances.trees.indexes.client import PackageClient

NAME = "npm"
LANGUAGE = "javascript"
SURE_OF_DATES = False  # some mirrors give the day on which they copied an old release

PACKAGING: tuple[str, ...] = ("package.json", "npm-shrinkwrap.json", "dist/*")
"""The manifest, whose version differs in every release, and bundles that are built from the sources."""

CLIENT = PackageClient(
    "npm", language="javascript", names=re.compile(r"(@[0-9a-z~-][0-9a-z._~-]*/)?[0-9a-z~-][0-9a-z._~-]*")
)

fetch = CLIENT.fetch


def releases(name: str, since: date, cache: Path, images: UserImages, /) -> Sequence[IndexedRelease]:
    said = json.loads(CLIENT.listing(name, since, cache, images))
    versions = said["versions"] if isinstance(said["versions"], list) else [said["versions"]]
    times = said["time"]
    return sort_releases(
        IndexedRelease(version=each, date=datetime.fromisoformat(times[each]) if each in times else None)
        for each in versions
    )
