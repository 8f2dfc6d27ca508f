"""Files of an instance without secrets, for those who want more than a page shows.

Every one has a path that ends in ``.txt``, so that no browser takes it for a page, from a server or from disk.
"""

import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO

from assay.harness.redaction import Redaction
from assay.viewer.files import open_inside
from assay.viewer.runs import ViewedRun, Viewer
from assay.viewer.text import TAKEN

DEPTH = 4  # folders below an instance's that are looked into


def make_path(run: str, instance_id: str, name: str) -> str:
    """Return the path, below the root and not quoted, of the file ``name`` in an instance's folder."""
    return f"{run}/raw/{instance_id}/{name}" + ("" if name.endswith(".txt") else ".txt")


IN_MEMORY = 8 * 1024 * 1024  # bytes of a file without its secrets; a larger one is on the disk


def open_path(viewer: Viewer, path: str) -> IO[bytes] | None:
    """Open what a file at a path that ``make_path`` gave is without its secrets; None if there is no such file."""
    key, kind, *parts = path.split("/") if path.count("/") >= 3 else ("", "")
    run = viewer.run(key)
    if run is None or kind != "raw" or not path.endswith(".txt"):
        return None
    instance_id, name = parts[0], "/".join(parts[1:])
    file = open_file(run, instance_id, name) or open_file(run, instance_id, name.removesuffix(".txt"))
    if file is None:
        return None
    redaction, taken = Redaction(), TAKEN.get()
    cleaned = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - who asked closes it
    with file:
        cleaned.writelines(redaction.chunks(file))
    if taken is not None:
        taken.update(redaction.taken)
    cleaned.seek(0)
    return cleaned


def open_file(run: ViewedRun, instance_id: str, name: str) -> BinaryIO | None:
    """Open a file of an instance's folder; None if there is none, or only a link."""
    evaluations = run.store.evaluations
    if name in evaluations.list_archived_files(instance_id):
        return io.BytesIO(evaluations.file(instance_id, name) or b"")
    return open_inside(run.store.root, ["instances", instance_id, *name.split("/")])


def names(run: ViewedRun, instance_id: str) -> Iterator[str]:
    """Yield the paths of the files in an instance's folder, without links; files of folders in it last."""
    found = {
        *run.store.evaluations.list_archived_files(instance_id),
        *_below(run.store.root / "instances" / instance_id),
    }
    yield from sorted(found, key=lambda name: (name.count("/"), name))


def _below(folder: Path, prefix: str = "", depth: int = DEPTH) -> Iterator[str]:
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_file(follow_symlinks=False):
                yield prefix + entry.name
            elif depth and entry.is_dir(follow_symlinks=False):
                yield from _below(folder / entry.name, f"{prefix}{entry.name}/", depth - 1)


def copy(viewer: Viewer, path: str, to: Path) -> None:
    source = open_path(viewer, path)
    if source is None:
        return
    to.parent.mkdir(parents=True, exist_ok=True)
    with source, to.open("wb") as target:
        shutil.copyfileobj(source, target)
