"""Cards of a vendor that does not exist: device nodes that act as others of the kernel's do, and a spec of CDI."""

import json
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

KIND = "acme.test/gpu"
FULL, ZERO = os.makedev(1, 7), os.makedev(1, 5)
"""Numbers of ``/dev/full`` and ``/dev/zero``, which nothing on a machine keeps open."""


def make_nodes(folder: Path, number: int) -> list[Path]:
    """Make the nodes of at most two cards; skips the test where this user may not."""
    nodes = []
    for each, device in zip(range(number), (FULL, ZERO), strict=False):
        path = folder / f"card{each}"
        try:
            os.mknod(path, 0o666 | stat.S_IFCHR, device)
            path.chmod(0o666)
            path.open("rb").close()
        except PermissionError:
            pytest.skip("this user may not make device nodes, or not open them here")
        nodes.append(path)
    return nodes


def write_spec(folder: Path, cards: Mapping[str, Sequence[str]], *, kind: str = KIND) -> Path:
    """Write a spec with the nodes of each card, and return its folder; a card's variable names it."""
    devices = [
        {
            "name": name,
            "containerEdits": {
                "env": [f"ACME_CARD={name}"],
                "deviceNodes": [{"path": f"/dev/acme/{Path(node).name}", "hostPath": node} for node in nodes],
            },
        }
        for name, nodes in cards.items()
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "acme.json").write_text(json.dumps({"cdiVersion": "0.5.0", "kind": kind, "devices": devices}))
    return folder
