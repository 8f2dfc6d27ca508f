"""The pages as files that open from disk, without a server and without a network."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from assay.harness.errors import UserError
from assay.harness.files import refuse_links
from assay.viewer import assets, raw
from assay.viewer.page import Keys, PageKind
from assay.viewer.pages import KINDS, Pages
from assay.viewer.runs import Viewer
from assay.viewer.text import TAKEN

MARK = "assets/viewer.css"
"""A folder with this file was written by an earlier export and may be written again."""
Addresses = Sequence[tuple[PageKind, Keys]]


def every_page(viewer: Viewer) -> Addresses:
    return [(kind, keys) for kind in KINDS for keys in kind.pages(viewer)]


def write_pages(
    viewer: Viewer,
    folder: Path,
    addresses: Addresses | None = None,
    wrote: Callable[[], None] = lambda: None,
    taken: Counter[str] | None = None,
) -> int:
    """Write every page, with the raw files that they link to, without secrets; return how many pages there are.

    Args:
        viewer: the runs.
        folder: a new or empty folder, or one of an earlier export, whose files are replaced.
        addresses: what ``every_page`` returned.
        wrote: called after each page.
        taken: counts by kind what was taken out, each place for itself.

    Raises:
        UserError: the folder holds something else. OSError: it cannot be written.
    """
    if folder.exists() and not (folder / MARK).is_file() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is not empty and holds no earlier report; choose another folder with -o")
    if folder.exists():
        refuse_links(folder)
    for name in assets.names():
        _write(folder / "assets" / name, assets.read(name) or b"")
    TAKEN.set(taken)
    pages, written = Pages(viewer), 0
    for kind, keys in every_page(viewer) if addresses is None else addresses:
        html = pages.html(kind, keys)
        if html is not None:
            _write(folder / kind.make_path(keys), html.encode(errors="replace"))
            written += 1
        wrote()
    for path in _raw_paths(viewer):
        raw.copy(viewer, path, folder / path)
    return written


def _raw_paths(viewer: Viewer) -> Iterator[str]:
    for key, run in viewer.runs.items():
        for entry in run.now().entries.values():
            if entry.state:
                yield from (raw.make_path(key, entry.id, name) for name in raw.names(run, entry.id))


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
