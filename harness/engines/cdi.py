"""Reads specs of the Container Device Interface (CDI): what a container gets with a device that a vendor describes."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from assay.harness.files import check_folder, make_model, read_yaml

USUAL = (Path("/etc/cdi"), Path("/var/run/cdi"))
"""Folders that engines look in; of two devices with one name the one in the later folder counts."""
SUFFIXES = (".json", ".yaml")
ALL = "all"  # the name under which vendors describe all their devices together


class _Part(BaseModel):
    """A part of a spec; engines know fields that are of no use here."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)


class Node(_Part):
    path: str
    """Path in the container."""
    host_path: str = Field(default="", alias="hostPath")
    permissions: str = "rwm"

    @property
    def host(self) -> str:
        return self.host_path or self.path


class Mount(_Part):
    host_path: str = Field(alias="hostPath")
    container_path: str = Field(alias="containerPath")
    options: tuple[str, ...] = ()


class Edits(_Part):
    env: tuple[str, ...] = ()
    nodes: tuple[Node, ...] = Field(default=(), alias="deviceNodes")
    mounts: tuple[Mount, ...] = ()
    hooks: tuple[Any, ...] = ()
    groups: tuple[int, ...] = Field(default=(), alias="additionalGids")


class _Described(_Part):
    name: str
    edits: Edits = Field(default=Edits(), alias="containerEdits")


class _Spec(_Part):
    kind: str
    devices: tuple[_Described, ...]
    edits: Edits = Field(default=Edits(), alias="containerEdits")


class CdiDevice(_Part):
    """A device of a spec, with what its container gets."""

    kind: str
    name: str
    folder: Path
    nodes: tuple[str, ...]
    """Paths, on this machine, of the device's own nodes, without nodes that its spec gives with any device."""
    edits: Edits
    """The device's, and those of its spec."""

    @property
    def full_name(self) -> str:
        return f"{self.kind}={self.name}"

    @property
    def is_plain(self) -> bool:
        """Whether any engine can make the container, since nothing runs in it beforehand."""
        return not (self.edits.hooks or self.edits.groups)


def read_devices(kind: str, folders: Sequence[Path] = ()) -> list[CdiDevice]:
    """Return the devices of a kind that the usual folders and others describe, in the order of their specs.

    Raises DataError that names the file and the field of a wrong spec, UserError for a folder that is not there.
    """
    for folder in folders:
        check_folder(folder, "--cdi")
    found: dict[str, CdiDevice] = {}
    for folder in (*USUAL, *folders):
        for file in sorted(folder.iterdir()) if folder.is_dir() else ():
            if file.suffix in SUFFIXES:
                found |= {each.name: each for each in _read_spec(file, kind)}
    return [*found.values()]


def _read_spec(file: Path, kind: str) -> Iterator[CdiDevice]:
    content = read_yaml(file)  # JSON is YAML, too
    if isinstance(content, dict) and content.get("kind") != kind:
        return
    spec = make_model(_Spec, content, str(file), "write it as the specification of CDI says")
    for device in spec.devices:
        if device.name != ALL:
            parts = (spec.edits, device.edits)
            joined = {field: tuple(e for part in parts for e in getattr(part, field)) for field in Edits.model_fields}
            nodes = tuple(node.host for node in device.edits.nodes)
            yield CdiDevice(kind=kind, name=device.name, folder=file.parent, nodes=nodes, edits=Edits(**joined))
