"""Archives of Go modules, which hold all files of the module, its tests included."""

import re

from assay.instances.trees.indexes.client import PackageClient

NAME = "go"

PACKAGING: tuple[str, ...] = ()

CLIENT = PackageClient("go", language="go", names=re.compile(r"[0-9A-Za-z][0-9A-Za-z._~-]*(/[0-9A-Za-z._~-]+)*"))

fetch = CLIENT.fetch
