"""Archives of Rust crates; most hold their tests."""

import re

from assay.instances.trees.indexes.client import PackageClient

NAME = "crates"

PACKAGING: tuple[str, ...] = ("Cargo.toml", "Cargo.toml.orig", "Cargo.lock", ".cargo_vcs_info.json")
"""Files that cargo writes whenever it packs a crate.

Cargo.toml is generated from Cargo.toml.orig: its version differs in every release, its layout with cargo's version.
Cargo.lock is packed or not, depending on cargo's version too, and may name packages that the environment, built for the
old release, does not have. If a fix needs its manifest (a feature, or a new test target, which newer cargos list one by
one), set the task's own ``ignore``.
"""

CLIENT = PackageClient("cargo", language="rust", names=re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]*"))

fetch = CLIENT.fetch
