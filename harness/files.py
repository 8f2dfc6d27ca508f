"""Files that are written whole or not at all, read back as models, packed, and locked; and the hash of code."""

import errno
import fcntl
import json
import os
import shutil
import stat
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import file_digest, sha256
from io import FileIO
from pathlib import Path
from typing import IO, Any, TypeVar

from pydantic import BaseModel, ValidationError

from assay.harness.errors import DataError, UserError, field_error

ModelT = TypeVar("ModelT", bound=BaseModel)

CODE = frozenset({".awk", ".jinja", ".php", ".py", ".sh", ".toml", ".tsv"})
"""Suffixes of files that decide what a room does."""


def hash_code(*paths: Path) -> str:
    """Return the hash of modules, and of all modules, templates and scripts below folders."""
    digest = sha256()
    for top in paths:
        inside = (file for file in top.rglob("*") if file.suffix in CODE)
        for file in sorted(inside) if top.is_dir() else [top]:
            digest.update(repr((str(file.relative_to(top.parent)), file.read_bytes())).encode())
    return digest.hexdigest()[:16]


def hash_contents(*paths: Path) -> str:
    """Return the hash of files, and of all files below folders, with their names; a missing one counts as missing."""
    return _hash_files(paths, hash_file)


def hash_times(*paths: Path) -> str:
    """Return the hash of the names, sizes and times of all files below folders, where contents would be too much."""
    return _hash_files(paths, lambda file: (state := file.stat()) and (state.st_size, state.st_mtime_ns, state.st_ino))


def hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _hash_files(paths: Iterable[Path], describe: Callable[[Path], object]) -> str:
    digest = sha256()
    for top in paths:
        digest.update(repr((str(top), top.exists())).encode())
        for file in _walk_files(top):
            with suppress(FileNotFoundError):  # it went in the meantime
                digest.update(repr((str(file), describe(file))).encode())
    return digest.hexdigest()


def _walk_files(top: Path) -> Iterator[Path]:
    seen = set[tuple[int, int]]()  # links may lead in a circle
    if top.is_file():
        yield top
    for folder, inside, names in os.walk(top, followlinks=True):
        state = os.stat(folder)  # noqa: PTH116 - the same as os.walk
        is_new = (state.st_dev, state.st_ino) not in seen
        seen.add((state.st_dev, state.st_ino))
        inside[:] = sorted(name for name in inside if is_new and name != "__pycache__")
        yield from (Path(folder, name) for name in sorted(names) if not name.endswith(".pyc"))


@cache
def code_edition(*paths: Path) -> str:
    """Return the hash of code as it was when first asked for: under another, saved results are stale."""
    return hash_code(*paths)


def json_lines(models: Iterable[BaseModel]) -> bytes:
    return "".join(f"{model.model_dump_json()}\n" for model in models).encode()


SAFE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""How files of somebody else are opened: no link is followed, and no pipe is waited for."""
LARGEST = 4 * 1024**3
"""Bytes of a file that is read at once."""
NOT_REGULAR = "is a link or no regular file; remove it, or copy what it stands for to its place"


def open_regular(path: Path | str, dir_fd: int | None = None) -> FileIO:
    """Open a file of a folder that somebody else may have made; raises OSError if it is no regular file."""
    number = os.open(path, SAFE, dir_fd=dir_fd)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(errno.ELOOP, "not a regular file", str(path))
    return os.fdopen(number, "rb", buffering=0)


def read_regular(path: Path | str, start: int = 0) -> bytes:
    """Read a file, from a byte on, of a folder that somebody else may have made.

    Raises:
        FileNotFoundError, NotADirectoryError: it is missing.
        DataError: it is a link, a pipe or a folder, or too large.
    """
    try:
        with open_regular(path) as file:
            if os.fstat(file.fileno()).st_size <= LARGEST:
                file.seek(start)
                return file.read()
            problem = f"has more than {LARGEST >> 30} GiB; remove it"
    except OSError as error:
        if error.errno not in {errno.ELOOP, errno.ENXIO}:  # a link, or not regular; a socket
            raise
        problem = NOT_REGULAR
    raise DataError(problem, file=str(path))


def refuse_links(folder: Path) -> None:
    """Raise DataError if anything below a folder is a link, a pipe or a device: it may lead out, or never end."""
    folders = [str(folder)]
    while folders:
        with suppress(FileNotFoundError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif not entry.is_file(follow_symlinks=False):
                    raise DataError(NOT_REGULAR, file=entry.path)


def read_model(path: Path | str, kind: type[ModelT]) -> ModelT | None:
    """Read a file; None if it is missing, torn or of another shape. Raises DataError as ``read_regular``."""
    try:
        return kind.model_validate_json(read_regular(path))
    except (FileNotFoundError, NotADirectoryError, ValidationError):
        return None


def parse_json(text: str | bytes) -> Any:
    """Read JSON; raises ValueError if it is none, or nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("is nested too deeply") from None


MOST_NODES = 1_000_000
"""Values of a YAML text, those counted again that an alias repeats."""


def parse_yaml(text: str, file: str = "") -> Any:
    """Read YAML; raises DataError that names the file and the line if it is none, or grows without measure."""
    import yaml

    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            if _count_nodes(node, {}) > MOST_NODES:
                raise DataError(f"has more than {MOST_NODES:,} values; repeat less by aliases", file=file)
            return loader.construct_document(node)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        line = min(error.problem_mark.line, text.rstrip().count("\n")) + 1 if error.problem_mark else 0
        raise DataError(f"is not YAML: {error.problem}", file=file, line=line) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise DataError(f"is not YAML: {str(error).partition(chr(10))[0]}", file=file) from None


def _count_nodes(node: Any, known: dict[int, float]) -> float:
    """Count the values below a node of YAML; one that contains itself has no end."""
    if id(node) not in known:
        known[id(node)] = float("inf")
        inside = [each for pair in node.value for each in pair] if node.id == "mapping" else node.value
        below = () if node.id == "scalar" else inside
        known[id(node)] = 1 + sum(_count_nodes(each, known) for each in below)
    return known[id(node)]


def read_text(path: Path) -> str:
    """Read a UTF-8 file that a person wrote; raises DataError that names it."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {getattr(error, 'strerror', None) or error}", file=str(path)) from None


def read_yaml(path: Path) -> Any:
    """Read a YAML file; raises DataError that names it, and the line, if it cannot be read or is none."""
    return parse_yaml(read_text(path), str(path))


def make_model(kind: type[ModelT], fields: object, file: str, wanted: str) -> ModelT:
    """Check the content of a YAML file; raises DataError that names file, field and the remedy (``wanted``)."""
    if not isinstance(fields, dict):
        raise DataError(f"is not a mapping of fields to values; {wanted}", file=file)
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        found = field_error(error)
        raise DataError(f"{found.problem}; {wanted}", file=file, field=found.field) from error


@contextmanager
def atomic_file(path: Path, *, syncs: bool = True) -> Iterator[IO[bytes]]:
    """Open a file for writing and re-reading; it takes its name, and is on the disk, only if the block succeeds.

    A reader, another process that writes the same file, or a crash never leaves a part of it under that name. Without
    ``syncs`` it is not on the disk yet, and a power failure may.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{uuid.uuid4().hex}.new")
    try:
        with part.open("w+b") as file:
            yield file
            if syncs:
                file.flush()
                os.fsync(file.fileno())
        part.replace(path)
        if syncs:
            sync_folder(path.parent)
    finally:
        with suppress(OSError):
            part.unlink()


def replace_file(path: Path, content: bytes, *, syncs: bool = True) -> None:
    """Write a whole file by ``atomic_file``."""
    with atomic_file(path, syncs=syncs) as file:
        file.write(content)


def write_file(path: Path, content: bytes) -> None:
    """Write a file, with the folders above it; it is on the disk when this returns, but a crash may leave a part."""
    number = _open(path, os.O_WRONLY | os.O_TRUNC)
    try:
        _write(number, content)
        os.fsync(number)
    finally:
        os.close(number)


def link_or_copy(source: str | Path, target: str | Path) -> str | Path:
    """Give a file a second name or, where that cannot be, a copy.

    The copy is never written under the second name itself: a network file system may have made the link, and lost the
    answer.
    """
    try:
        os.link(source, target)
    except OSError:
        part = Path(target).with_name(f".{uuid.uuid4().hex}.new")
        shutil.copyfile(source, part)
        shutil.copymode(source, part)
        part.replace(target)
    return target


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk; does nothing if the folder is missing."""
    with suppress(FileNotFoundError):
        number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def find_entries(folder: Path, names: Collection[str]) -> Iterator[Path]:
    """Yield the entries of a folder that have one of these lower-case names, in any case; none if it is no folder."""
    if folder.is_dir():
        yield from sorted(entry for entry in folder.iterdir() if entry.name.lower() in names)


def check_folder(path: Path, what: str) -> None:
    """Raise UserError if a path that a person gave as ``what``, such as "folder of mirrors", is no readable folder."""
    if not path.exists():
        raise UserError(f"{what} {path}: there is no such folder")
    if not path.is_dir():
        raise UserError(f"{what} {path}: is no folder")
    if not os.access(path, os.R_OK | os.X_OK):
        raise UserError(f"{what} {path}: may not be read")


def default_cache() -> Path:
    """Return ``$ASSAY_CACHE``, or ``assay`` in the user's cache folder."""
    if os.environ.get("ASSAY_CACHE"):
        return Path(os.environ["ASSAY_CACHE"])
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assay"


@contextmanager
def hold_lock(path: Path) -> Iterator[None]:
    """Wait for and hold a lock file, created if missing, that other processes on this machine respect."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def append_lines(path: Path, lines: Iterable[bytes], *, syncs: bool = False) -> None:
    """Append lines to a file that only grows, after ending one that a crash tore; on the disk only with ``syncs``."""
    number = _open(path, os.O_RDWR | os.O_APPEND)
    try:
        end = os.lseek(number, 0, os.SEEK_END)
        torn = end > 0 and os.pread(number, 1, end - 1) != b"\n"
        _write(number, b"\n" * torn + b"".join(line + b"\n" for line in lines))
        if syncs:
            os.fsync(number)
    finally:
        os.close(number)


def write_end(path: Path, start: int, content: bytes) -> None:
    """Write the end of a file from a place on, in place of what is there; it is on the disk when this returns."""
    number = _open(path, os.O_RDWR)
    try:
        os.ftruncate(number, start)
        os.lseek(number, start, os.SEEK_SET)
        _write(number, content)
        os.fsync(number)
    finally:
        os.close(number)


def _open(path: Path, flags: int) -> int:
    """Open a file, and no link, by its number; make it, and the folders above it.

    That costs a third of what a file object does.
    """
    flags |= os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(path, flags, 0o666)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, 0o666)


def _write(number: int, content: bytes) -> None:
    """Write all of it; the system may take only a part at once."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(number, rest) :]


def sync_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


@contextmanager
def lock_folder(folder: Path, problem: str) -> Iterator[None]:
    """Keep every other process out of a folder, which is made; raises UserError with ``problem`` if one has it."""
    folder.mkdir(parents=True, exist_ok=True)
    with os.fdopen(_open(folder / "lock", os.O_WRONLY | os.O_NONBLOCK), "w") as lock:
        if not try_lock(lock):
            raise UserError(problem)
        yield


def try_lock(file: "int | IO[Any]", *, shared: bool = False) -> bool:
    """Lock an open file until it is closed, beside other shared locks if ``shared``; False if somebody else has it."""
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
