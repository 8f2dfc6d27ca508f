"""Archives of Rust crates; most hold their tests."""

import re

from assay.instances.trees.indexes.client import PackageClient

NAME = "crates"

PACKAGING: tuple[str, ...] = ("Cargo.toml", "Cargo.toml.orig", "Cargo.lock", ".cargo_vcs_info.json")
"""What cargo writes anew whenever it packs a crate.

Cargo.toml is cargo's own rendering of Cargo.toml.orig: its version changes every time, and its layout with the cargo
that packs. Cargo.lock is there or not by the same chance, and would name other packages than those in the environment,
which is made for the old release. Where a fix does need its manifest (a feature, or a new test target, which newer
cargos list one by one), the task's own ``ignore`` leaves less out.
"""

CLIENT = PackageClient("cargo", language="rust", names=re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]*"))

fetch = CLIENT.fetch
