"""Archives of Rust crates; most hold their tests."""

import json
import re
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path

from assay.instances.toolchains.images import UserImages
from assay.instances.trees.indexes.base import IndexedRelease, sort_releases
from assay.instances.trees.indexes.client import PackageClient

NAME = "crates"
LANGUAGE = "rust"
SURE_OF_DATES = True

PACKAGING: tuple[str, ...] = ("Cargo.toml", "Cargo.toml.orig", "Cargo.lock", ".cargo_vcs_info.json")
"""Files that cargo writes whenever it packs a crate.

Cargo.toml is generated from Cargo.toml.orig: its version differs in every release, its layout with cargo's version.
Cargo.lock is packed or not, depending on cargo's version too, and may name packages that the environment, built for the
old release, does not have. If a fix needs its manifest (a feature, or a new test target, which newer cargos list one by
one), set the task's own ``ignore``.
"""

CLIENT = PackageClient("cargo", language="rust", names=re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]*"))

fetch = CLIENT.fetch


def releases(name: str, since: date, cache: Path, images: UserImages, /) -> Sequence[IndexedRelease]:
    """Releases from before the index kept times have no date."""
    rows = map(json.loads, CLIENT.listing(name, since, cache, images).splitlines())
    return sort_releases(
        IndexedRelease(
            version=row["vers"],
            date=datetime.fromisoformat(row["pubtime"]) if row.get("pubtime") else None,
            sha256=row["cksum"],
        )
        for row in rows
        if not row["yanked"]
    )
