"""Reads the rows of a data set from files, folders or the hub; the formats interpret them."""

import csv
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.harness.errors import DataError, PluginError, UserError
from assay.harness.names import nearest
from assay.instances.dataset.formats import compact, harbor_folder, native, task_folder

ALIASES = {
    "lite": ("SWE-bench/SWE-bench_Lite", "test"),
    "verified": ("SWE-bench/SWE-bench_Verified", "test"),
    "full": ("SWE-bench/SWE-bench", "test"),
    "multilingual": ("SWE-bench/SWE-bench_Multilingual", "test"),
    "multimodal": ("SWE-bench/SWE-bench_Multimodal", "dev"),
}
"""Short names of data sets on the hub: id, and the split that has labels."""

BUNDLED = {"releases": Path(__file__).parent.parent / "releases"}
"""Short names of data sets that Assay ships: their folders."""

SUFFIXES = (".jsonl", ".json", ".parquet", ".csv")

CELL = 2**31 - 1
"""Largest cell of a CSV file, in characters; the csv module's own limit is too small for a patch."""


@dataclass(frozen=True, slots=True)
class PlacedRow:
    """One row with its place; a file that has no lines numbers its rows, from 1."""

    value: Any
    file: str
    line: int = 0
    number: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """The unread rows of a data set."""

    name: str
    revision: str
    """Hash of the content."""
    read: Callable[[], Iterator[PlacedRow | DataError]]
    """Yields the rows one by one, and an error in place of an unreadable one."""


def find_table(dataset: str, split: str | None) -> Table:
    """Find the rows of an alias, a file, a folder or a hub id; raises UserError, or PluginError for a missing extra."""
    if dataset in BUNDLED:
        return _folder_table(BUNDLED[dataset], split)
    if dataset in ALIASES:
        hub_id, labelled = ALIASES[dataset]
        return _hub_table(hub_id, split or labelled)
    path = Path(dataset).expanduser()
    if path.is_dir():
        return _folder_table(path, split)
    if path.is_file():
        return _file_table(path, split)
    if path.suffix in SUFFIXES or dataset.startswith((".", "/", "~")) or dataset.count("/") != 1:
        raise UserError(_unknown(dataset))
    return _hub_table(dataset, split or "test")


def _unknown(dataset: str) -> str:
    known = [*BUNDLED, *ALIASES]
    folder = Path(dataset).expanduser().parent
    beside = [str(path) for path in folder.iterdir() if path.suffix in SUFFIXES] if folder.is_dir() else []
    close = nearest(dataset, [*known, *beside])
    hint = f"did you mean {close}?" if close else f"give {', '.join(known)}, a file, a folder or a hub id"
    return f"{dataset}: no such data set; {hint}"


def _folder_table(folder: Path, split: str | None) -> Table:
    if layout := task_folder.find_layout(folder):
        return _task_table(folder, layout, split)
    if tasks := harbor_folder.task_folders(folder):
        return _harbor_table(folder, tasks)
    if (folder / "state.json").is_file() or (folder / "dataset_dict.json").is_file():
        return _read_saved_table(folder, split)
    files = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    if split:
        files = [path for path in files if path.stem == split or path.stem.startswith(f"{split}-")]
    if len(files) != 1 and harbor_folder.is_older(folder):
        problem = "holds tasks of the first Terminal-Bench; make tasks of Harbor of them: harbor task migrate"
        raise UserError(f"{folder}: {problem} -i {folder} -o DIR")
    if len(files) != 1:
        found = ", ".join(path.name for path in files[:5]) or "none"
        wanted = f"one data file of split {split}" if split else "one data file, or a file assay.yaml"
        raise UserError(f"{folder}: should hold {wanted}; found {found}. Name a file, or the split")
    return _file_table(files[0], None)


def _task_table(folder: Path, layout: task_folder.FolderLayout, split: str | None) -> Table:
    top = task_folder.settings(folder, layout)
    shared = top.get("recipe") or {}

    def read() -> Iterator[PlacedRow | DataError]:
        for task_id in task_folder.task_ids(folder):
            try:
                row = task_folder.read_task(folder, layout, task_id, shared)
            except DataError as error:
                yield error
                continue
            own = row.get("split", split)
            if split in (None, own) and own not in layout.withheld:
                yield PlacedRow(row, str(folder / "tasks" / task_id))
        for table in compact.tables(folder) if layout.marker == native.MARKER else ():
            yield from _table_rows(table, split)

    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    return Table(str(top.get("name") or folder.name), _hash_files(folder, files), read)


def _table_rows(table: Path, split: str | None) -> Iterator[PlacedRow | DataError]:
    """Yield the rows of a table in a data set of folders, with the labels that are beside it."""
    try:
        labels = compact.read_labels(table)
    except DataError as error:
        yield error
        return
    for row in _json_lines(table):
        if isinstance(row, PlacedRow) and isinstance(row.value, dict):
            row = PlacedRow(compact.merge_labels(row.value, labels), row.file, row.line)  # noqa: PLW2901 - the same row, with its labels
        if isinstance(row, DataError) or _get_split(row) in (None, split):
            yield row


def _harbor_table(folder: Path, tasks: list[Path]) -> Table:
    def read() -> Iterator[PlacedRow | DataError]:
        for task in tasks:
            try:
                yield PlacedRow(harbor_folder.read_task(task), str(task))
            except DataError as error:
                yield error

    files = [path for task in tasks for path in task.rglob("*") if path.is_file()]
    return Table(folder.resolve().name, _hash_files(folder, files), read)


def _file_table(path: Path, split: str | None) -> Table:
    readers = dict(zip(SUFFIXES, (_json_lines, _json_rows, _parquet_rows, _csv_rows), strict=True))
    if path.suffix not in readers:
        raise UserError(f"{path}: a data set file ends in {', '.join(readers)}")
    reader = readers[path.suffix]

    def read() -> Iterator[PlacedRow | DataError]:
        for row in reader(path):
            if split is None or isinstance(row, DataError) or _get_split(row) in (None, split):
                yield row

    return Table(path.stem, _hash_files(path.parent, [path]), read)


def _get_split(row: PlacedRow) -> str | None:
    return row.value.get("split") if isinstance(row.value, dict) else None


def _json_lines(path: Path) -> Iterator[PlacedRow | DataError]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                yield PlacedRow(json.loads(line.decode("utf-8-sig")), str(path), number)
            except json.JSONDecodeError as error:
                problem = f"is not JSON: {error.msg} (column {error.colno})"
                yield DataError(problem, file=str(path), line=number)
            except UnicodeDecodeError:
                yield DataError("is not UTF-8 text", file=str(path), line=number)


def _json_rows(path: Path) -> Iterator[PlacedRow | DataError]:
    """Read a list of rows, or an object of rows by instance id."""
    try:
        whole = json.loads(path.read_bytes().decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        yield DataError(f"is not JSON: {error.msg}", file=str(path), line=error.lineno)
        return
    except UnicodeDecodeError as error:
        yield DataError(f"is not UTF-8 at byte {error.start}", file=str(path))
        return
    if isinstance(whole, dict):
        whole = [{"instance_id": key, **row} if isinstance(row, dict) else row for key, row in whole.items()]
    if not isinstance(whole, list):
        yield DataError("is neither a list of rows nor an object by instance id", file=str(path))
        return
    yield from _number_rows(whole, str(path))


def _number_rows(values: Iterable[Any], file: str) -> Iterator[PlacedRow]:
    return (PlacedRow(value, file, number=number) for number, value in enumerate(values, start=1))


def _csv_rows(path: Path) -> Iterator[PlacedRow | DataError]:
    """Read a table with a header; a row's line is its first, since a cell may have many lines."""
    csv.field_size_limit(CELL)
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        header: list[str] | None = None
        line = 1
        try:
            for cells in reader:
                if header is None:
                    header = cells
                elif cells:
                    yield _csv_row(cells, header, str(path), line)
                line = reader.line_num + 1
        except csv.Error as error:
            yield DataError(f"is not CSV: {error}", file=str(path), line=line)
        except UnicodeDecodeError:
            yield DataError("is not UTF-8 text", file=str(path), line=line)


def _csv_row(cells: list[str], header: list[str], file: str, line: int) -> PlacedRow | DataError:
    if len(cells) != len(header):
        problem = f"has {len(cells)} values, but the first line names {len(header)} columns"
        return DataError(problem, file=file, line=line)
    return PlacedRow(dict(zip(header, cells, strict=True)), file, line)


def _parquet_rows(path: Path) -> Iterator[PlacedRow | DataError]:
    try:
        import pyarrow.lib  # type: ignore[import-untyped, unused-ignore]
        import pyarrow.parquet  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise _missing_extra(f"reading {path}", "parquet") from None
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            batches = file.iter_batches(batch_size=100)
            yield from _number_rows((row for batch in batches for row in batch.to_pylist()), str(path))
    except pyarrow.lib.ArrowException as error:
        yield DataError(f"is not parquet: {str(error).splitlines()[0]}", file=str(path))


def _read_saved_table(folder: Path, split: str | None) -> Table:
    datasets = _datasets(f"reading {folder}, which `datasets` saved,")
    found = datasets.load_from_disk(str(folder))
    if isinstance(found, dict):
        name = split or ("test" if "test" in found else next(iter(found)))
        if name not in found:
            raise UserError(f"{folder}: has no split {name}; it has {', '.join(found)}")
        found = found[name]
    return _dataset_table(folder.name, str(folder), found)


def _hub_table(hub_id: str, split: str) -> Table:
    datasets = _datasets(f"{hub_id} is no file or folder here, and reading it from the hub")
    try:
        found = datasets.load_dataset(hub_id, split=split)
    except (ConnectionError, FileNotFoundError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"{hub_id} (split {split}) cannot be loaded from the hub: {reason}") from None
    return _dataset_table(hub_id, hub_id, found)


def _dataset_table(name: str, file: str, found: Iterable[dict[str, Any]]) -> Table:
    digest = hashlib.sha256()
    for row in found:
        digest.update(json.dumps(row, sort_keys=True, default=str).encode())
    return Table(name, digest.hexdigest(), lambda: _number_rows(found, file))


def _datasets(job: str) -> Any:
    try:
        import datasets  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise _missing_extra(job, "hub") from None
    return datasets


def _missing_extra(job: str, extra: str) -> PluginError:
    return PluginError(f"{job} needs the extra `{extra}`: pip install 'assay-bench[{extra}]'")


def _hash_files(top: Path, files: Iterable[Path]) -> str:
    """Hash names and contents of files; this is the revision of a data set."""
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path.relative_to(top).as_posix()}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    return digest.hexdigest()
