"""Evaluations of a large run, a thousand in one archive: a run of 100,000 has a few hundred files.

    archives/0001.tar     for each evaluation, the files that a folder of it would hold: <id>/evidence.json ...
    archives/index.jsonl  for each evaluation, a line: where it is, and its verdict; the last of an id counts

Both only grow. What is in an archive behind the last evaluation of the index is what a crash left, and is cut off by
the next run. Evaluations that end together reach the disk together.
"""

import io
import os
import shutil
import tarfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from assay.harness.domain import Model
from assay.harness.engines.tars import tar_members
from assay.harness.files import open_regular, sync_folder, write_end
from assay.harness.runs.growing import GrowingFile
from assay.harness.runs.saved import SavedVerdict

FROM = 2500
"""Predictions of a run that are evaluated into folders; the evaluations of a larger run go into archives."""
MOST = 1000  # evaluations in one archive


Place = Annotated[int, Field(ge=0, lt=1 << 50)]


class ArchivedEvaluation(Model):
    id: str
    number: Place = 0
    """Number of the archive; 0 if the evaluation was dropped."""
    start: Place = 0
    size: Place = 0
    saved: SavedVerdict | None = None


Notify = Callable[[Sequence[SavedVerdict]], None]
"""Called with the evaluations that reached the disk together; does not raise."""


def ignore(_saved: Sequence[SavedVerdict]) -> None:
    """The callback of an evaluation that nobody waits for."""


@dataclass(slots=True)
class _Batch:
    """Evaluations that reach the disk together."""

    notify: Notify
    entries: list[tuple[ArchivedEvaluation, bytes]] = field(default_factory=list)
    is_done: bool = False
    error: OSError | None = None


class Archives:
    """The archives of one run; safe in several threads. One process writes, any reads. Get them by ``get_archives``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._index = GrowingFile(folder / "index.jsonl")
        self._lines: dict[str, tuple[int, int]] = {}
        """Place and length of each evaluation's line in the index, by id."""
        self._last = (1, 0, 0)
        """Number of the last archive, evaluations in it, and where they end."""
        self._last_read: tuple[tuple[int, int], Mapping[str, bytes]] = ((0, 0), {})
        """Files of the evaluation that was read last, and its place: whoever reads one file reads others, too."""
        self._batch = _Batch(ignore)
        self._lock = threading.RLock()
        self._turn = threading.Lock()
        """Held by the thread that brings a batch to the disk."""

    @property
    def exists(self) -> bool:
        return self._folder.is_dir()

    def make(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._index.add(())
        for folder in (self._folder, self._folder.parent):
            sync_folder(folder)

    def remove(self) -> None:
        """Remove all of them; raises OSError."""
        if self.exists:
            shutil.rmtree(self._folder)

    def places(self) -> dict[str, tuple[int, int]]:
        """Return the place of each evaluation's line, which changes when its verdict does, by id."""
        with self._lock:
            self._look()
            return dict(self._lines)

    def find(self, instance_id: str) -> SavedVerdict | None:
        entry = self._entry(instance_id)
        return entry.saved if entry else None

    def files(self, instance_id: str) -> Mapping[str, bytes]:
        """Return the files of an evaluation by their path in its folder; none if there is no evaluation."""
        entry = self._entry(instance_id)
        if entry is None:
            return {}
        with self._lock:
            place = (entry.number, entry.start)
            if self._last_read[0] != place:
                self._last_read = (place, self._read_files(entry))
            return self._last_read[1]

    def _read_files(self, entry: ArchivedEvaluation) -> Mapping[str, bytes]:
        """Return the files of an evaluation; none if its part of the archive is gone, or not whole."""
        try:
            with open_regular(self._archive(entry.number)) as archive:
                number = archive.fileno()
                content = os.pread(number, min(entry.size, os.fstat(number).st_size), entry.start)
            with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as tar:
                plain = [each for each in tar if each.type == tarfile.REGTYPE]  # no link, and no hole of any size
                ends = [(each.name.partition("/")[2], each.offset_data, each.offset_data + each.size) for each in plain]
                return {name: content[start:end] for name, start, end in ends}
        except (OSError, tarfile.TarError):
            return {}

    def add(self, saved: SavedVerdict, files: Mapping[str, bytes], notify: Notify = ignore) -> None:
        """Write an evaluation, which is on the disk when this returns; raises OSError.

        Evaluations that reach the disk together trigger one ``notify``, with all of them.
        """
        name = saved.verdict.instance_id
        content = tar_members({f"{name}/{path}": text for path, text in files.items()})
        self._save(ArchivedEvaluation(id=name, size=len(content), saved=saved), content, notify)

    def replace_verdict(self, saved: SavedVerdict) -> None:
        """Write another verdict on the same evaluation; raises OSError."""
        entry = self._entry(saved.verdict.instance_id)
        if entry is not None:
            self._save(entry.model_copy(update={"saved": saved}))

    def drop(self, instance_id: str) -> None:
        """Forget an evaluation; raises OSError."""
        if self._entry(instance_id) is not None:
            self._save(ArchivedEvaluation(id=instance_id))

    def _save(self, entry: ArchivedEvaluation, content: bytes = b"", notify: Notify = ignore) -> None:
        with self._lock:
            batch = self._batch
            batch.notify = notify
            batch.entries.append((entry, content))
        with self._turn:
            if not batch.is_done:  # by the thread before this one, which took all that waited then
                with self._lock:
                    self._batch = _Batch(ignore)
                batch.is_done = True
                try:
                    self._write(batch)
                except OSError as error:
                    batch.error = error
                else:
                    batch.notify([entry.saved for entry, written in batch.entries if written and entry.saved])
        if batch.error is not None:
            raise OSError(*batch.error.args) from batch.error

    def _write(self, batch: _Batch) -> None:
        """Bring a batch to the disk: the archive first, then the lines that say where in it to look."""
        with self._lock:
            self._look()
            number, held, end = self._last
        if held >= MOST:
            number, end = number + 1, 0
        lines, start = [], end
        for entry, content in batch.entries:
            placed = entry.model_copy(update={"number": number, "start": end}) if content else entry
            lines.append(placed.model_dump_json().encode())
            end += len(content)
        write_end(self._archive(number), start, b"".join(content for _, content in batch.entries))
        if not start:
            sync_folder(self._folder)
        self._index.add(lines, syncs=True)

    def _entry(self, instance_id: str) -> ArchivedEvaluation | None:
        with self._lock:
            self._look()
            start, size = self._lines.get(instance_id, (0, 0))
            return _read(self._index.line(start, size)) if size else None

    def _look(self) -> None:
        """Read what was added to the index since the last look."""
        for start, line in self._index.news(self._forget):
            entry = _read(line)
            if entry is None:
                continue
            if not entry.number:
                self._lines.pop(entry.id, None)
                continue
            self._lines[entry.id] = (start, len(line))
            number, held, end = self._last
            if (entry.number, entry.start) >= (number, end):
                held = held if entry.number == number else 0
                self._last = (entry.number, held + 1, entry.start + entry.size)

    def _forget(self) -> None:
        self._lines, self._last, self._last_read = {}, (1, 0, 0), ((0, 0), {})

    def _archive(self, number: int) -> Path:
        return self._folder / f"{number:04}.tar"


def _read(line: bytes) -> ArchivedEvaluation | None:
    try:
        return ArchivedEvaluation.model_validate_json(line)
    except ValidationError:
        return None


@lru_cache(maxsize=64)
def get_archives(run: Path) -> Archives:
    return Archives(run / "archives")
