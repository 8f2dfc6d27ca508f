"""Files that are written whole or not at all, and read back as models."""

import os
import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

ModelT = TypeVar("ModelT", bound=BaseModel)


def json_lines(models: Iterable[BaseModel]) -> bytes:
    """Return each model as a line of JSON."""
    return "".join(f"{model.model_dump_json()}\n" for model in models).encode()


def read_model(path: Path, kind: type[ModelT]) -> ModelT | None:
    """Read a file; None when there is none that can be read whole."""
    try:
        return kind.model_validate_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValidationError):
        return None


def replace_file(path: Path, content: bytes) -> None:
    """Write a file so that a reader, or a crash, sees the old content or the new, never a part."""
    temporary = path.with_name(f".{uuid.uuid4().hex}.new")
    try:
        write_file(temporary, content)
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise


def write_file(path: Path, content: bytes) -> None:
    """Write a file, with the folders above it; it is on the disk when this returns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk; one that is not there has none."""
    with suppress(FileNotFoundError):
        number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
