"""Archives of Go modules, which hold all files of the module, its tests included."""

import re
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path

from assay.instances.toolchains.images import UserImages
from assay.instances.trees.indexes.base import IndexedRelease, sort_releases
from assay.instances.trees.indexes.client import PackageClient

NAME = "go"
LANGUAGE = "go"
SURE_OF_DATES = True

PACKAGING: tuple[str, ...] = ()

CLIENT = PackageClient(
    "go", language="go", names=re.compile(r"[0-9A-Za-z][0-9A-Za-z._~-]*(/[0-9A-Za-z._~-]+)*"), version="version"
)

fetch = CLIENT.fetch


def releases(name: str, since: date, cache: Path, images: UserImages, /) -> Sequence[IndexedRelease]:
    rows = (line.split() for line in CLIENT.listing(name, since, cache, images).splitlines())
    return sort_releases(
        IndexedRelease(version=row[0], date=datetime.fromisoformat(row[1]) if row[1:] else None) for row in rows if row
    )
