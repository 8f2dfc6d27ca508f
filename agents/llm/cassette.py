"""Answers on record: asked once, paid once, replayed for ever.

A cassette is a file of JSON lines, each a request with its answer, on disk before the answer is returned; whatever
kills the process, no answer is paid for twice. Keys are not in the file but computed from it, so that a person can
write one by hand. Requests hold no key of an endpoint, so neither does a cassette.
"""

import fcntl
import io
import os
import threading
import weakref
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import ValidationError

from assay.agents.llm.cassette_key import Steady, key_of, nearest_difference, question, unchanged
from assay.agents.llm.chat import Answer, ChatModel, Request
from assay.agents.llm.errors import CassetteMiss
from assay.harness.domain import Model
from assay.harness.errors import DataError, UserError


class Mode(StrEnum):
    """What a cassette does with a request."""

    RECORD = "record"
    """Ask, and keep the answer; a newer answer wins over an older one."""
    REPLAY = "replay"
    """Look up; ask nobody."""
    AUTO = "auto"
    """Look up; ask, and keep the answer, if it is not there."""


class CassetteEntry(Model):
    """One line."""

    request: Request
    answer: Answer


class Cassette:
    """A model around a model that records it and replays what it recorded; one process at a time writes a file.

    A context manager; safe to use from several threads.
    """

    def __init__(self, path: Path, mode: Mode, model: ChatModel | None = None, *, steady: Steady = unchanged) -> None:
        """Read what there is.

        Args:
            path: the file; its folder is made if it will be written.
            mode: what to do with a request.
            model: whom to ask; not needed for a replay.
            steady: takes out of a request's texts what differs from run to run.

        Raises:
            UserError: there is nothing to replay, nobody to ask, or another process is writing the file.
            DataError: a line of the file is wrong.
        """
        if mode is not Mode.REPLAY and model is None:
            raise UserError(f"mode {mode} of the cassette {path} needs a model to ask; only replay does without one")
        self._path, self._mode, self._model, self._steady = path, mode, model, steady
        self._lock = threading.Lock()
        self._file = _open_to_read(path) if mode is Mode.REPLAY else _open_to_write(path)
        weakref.finalize(self, self._file.close)
        try:
            entries = _read(self._file, path)
        except BaseException:
            self._file.close()
            raise
        self._entries = {key_of(entry.request, steady): entry for entry in entries}

    def __enter__(self) -> Self:
        """Return the cassette itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file; another process may write it then."""
        with self._lock:
            self._file.close()

    def complete(self, request: Request) -> Answer:
        """Replay an answer, or ask and record.

        Raises:
            CassetteMiss: a replay, and the request is not on record; names the nearest difference.
            ModelError, BudgetExceeded: as the model within; nothing is recorded then.
        """
        key = key_of(request, self._steady)
        if self._mode is not Mode.RECORD:
            with self._lock:
                entry = self._entries.get(key)
            if entry is not None:
                return entry.answer.model_copy(update={"replayed": True})
        if self._mode is Mode.REPLAY or self._model is None:
            raise CassetteMiss(self._miss(request))
        answer = self._model.complete(request)
        self._append(key, CassetteEntry(request=request, answer=answer))
        return answer

    def _append(self, key: str, entry: CassetteEntry) -> None:
        line = entry.model_dump_json(exclude_defaults=True).encode() + b"\n"
        with self._lock:
            self._file.seek(0, os.SEEK_END)
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())
            self._entries[key] = entry

    def _miss(self, request: Request) -> str:
        wanted = question(request, self._steady)
        difference = nearest_difference(
            wanted, (question(entry.request, self._steady) for entry in self._entries.values())
        )
        told = difference or f"it holds {len(self._entries)} answers"
        return f"the cassette {self._path} has no answer to this question: {told}; record it anew with mode auto"


def _open_to_read(path: Path) -> io.BufferedIOBase:
    try:
        return path.open("rb")
    except OSError as error:
        problem = f"the cassette {path} cannot be read ({error.strerror}); record one with mode auto"
        raise UserError(problem) from error


def _open_to_write(path: Path) -> io.BufferedIOBase:
    """Open a file alone, and cut off what a crash left of a line."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab+")
    except OSError as error:
        raise UserError(f"the cassette {path} cannot be written ({error.strerror}); choose another file") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise UserError(f"another process is writing the cassette {path}; wait for it, or choose another") from error
    file.seek(0)
    whole = file.read().rpartition(b"\n")
    if whole[2]:
        file.truncate(len(whole[0]) + len(whole[1]))
    return file


def _read(file: io.BufferedIOBase, path: Path) -> list[CassetteEntry]:
    """Read all whole lines; the last one without an end is one that a crash tore."""
    file.seek(0)
    lines = file.read().split(b"\n")[:-1]
    return [_entry(line, path, number) for number, line in enumerate(lines, 1) if line.strip()]


def _entry(line: bytes, path: Path, number: int) -> CassetteEntry:
    try:
        return CassetteEntry.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(place) for place in first["loc"])
        raise DataError(f"{first['msg']}; mend or delete the line", file=str(path), line=number, field=field) from error
