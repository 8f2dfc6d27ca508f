"""Gives cards to containers of Docker's API: by CDI, by a device request, or as the nodes that a CDI spec names."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.harness.engines.cards import HostCard
from assay.harness.engines.cdi import USUAL
from assay.harness.errors import EngineError

CDI, REQUEST, NODES = "CDI", "a device request", "device nodes of its CDI spec"
HOOK = "nvidia-container-runtime-hook"
"""A program of NVIDIA's toolkit; Docker gives cards on request where it is."""
CAPABILITIES = ("gpu", "compute", "utility")
PODMAN_WITH_CDI = 5  # the first version whose Docker API takes names of CDI
NO_WAY = (
    "{} cannot give it: it has no CDI spec and no toolkit of NVIDIA's serves it; install nvidia-container-toolkit, and "
    "write the spec with: nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml"
)
OLD = (
    "{} takes no names of CDI from {}, and the spec there asks for what only an engine can do, such as hooks; use "
    "Docker 28 or podman 5"
)


@dataclass(frozen=True, slots=True)
class Powers:
    """What an engine can do to give cards."""

    engine: str
    cdi_folders: tuple[Path, ...] = ()
    """Folders whose specs it reads; none if it takes no names of CDI."""
    takes_requests: bool = False


def read_powers(version: Mapping[str, Any], info: Mapping[str, Any], *, is_podman: bool) -> Powers:
    """Read an engine's powers from its own facts; what is installed beside it is looked for on this machine."""
    number = str(version.get("Version", ""))
    if is_podman:
        has_cdi = int(number.partition(".")[0] or 0) >= PODMAN_WITH_CDI
        return Powers(f"podman {number}", USUAL if has_cdi else ())
    folders = tuple(map(Path, info.get("CDISpecDirs") or ()))
    has_toolkit = "nvidia" in (info.get("Runtimes") or {}) or shutil.which(HOOK) is not None
    return Powers(f"docker {number}", folders, has_toolkit)


def choose_way(card: HostCard, powers: Powers) -> str:
    """Name how a card is given to a container; raises EngineError with the reason why it cannot be."""
    device = card.device
    if device and device.folder.resolve() in {folder.resolve() for folder in powers.cdi_folders}:
        return f"{powers.engine} by {CDI}"
    if card.is_nvidia and powers.takes_requests:
        return f"{powers.engine} by {REQUEST}"
    if device is None:
        raise EngineError(NO_WAY.format(powers.engine))
    if not device.is_plain:
        raise EngineError(OLD.format(powers.engine, device.folder))
    return f"{powers.engine} by {NODES}"


def make_card_config(cards: Sequence[HostCard]) -> dict[str, Any]:
    """Return the parts of a container's configuration that give it cards."""
    named = [each.device.full_name for each in cards if each.device and _goes(each, CDI)]
    requested = [each.card.name for each in cards if _goes(each, REQUEST)]
    plain = [each.device.edits for each in cards if each.device and _goes(each, NODES)]
    requests = [
        *([{"Driver": "cdi", "DeviceIDs": named}] if named else []),
        *([{"Driver": "nvidia", "DeviceIDs": requested, "Capabilities": [[*CAPABILITIES]]}] if requested else []),
    ]
    nodes = {node.path: node for edits in plain for node in edits.nodes}
    mounts = [mount for edits in plain for mount in edits.mounts]
    return {
        **({"device_requests": requests} if requests else {}),
        "devices": [
            {"PathOnHost": node.host, "PathInContainer": node.path, "CgroupPermissions": node.permissions}
            for node in nodes.values()
        ],
        "binds": {
            mount.host_path: {"bind": mount.container_path, "mode": "rw" if "rw" in mount.options else "ro"}
            for mount in mounts
        },
    }


def make_card_variables(cards: Sequence[HostCard]) -> list[str]:
    """Return the variables that CDI specs set: Docker's programs beside a container's first one would lack them."""
    return [
        variable for each in cards if each.device and not _goes(each, REQUEST) for variable in each.device.edits.env
    ]


def _goes(card: HostCard, way: str) -> bool:
    return card.card.runtime.endswith(f" by {way}")
