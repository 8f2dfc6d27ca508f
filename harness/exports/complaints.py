"""Complaints that several receivers share; each function reads one part of a submission's folder."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.harness.errors import DataError, brief
from assay.harness.exports.base import Problem
from assay.harness.files import parse_yaml
from assay.harness.names import count

Rows = Sequence[Mapping[str, Any]]

_FOLDER = re.compile(r"(19|20)\d{6}_[^/]+")
_FEW = 5


@dataclass(frozen=True, slots=True)
class SubmittedFolder:
    root: Path
    """The checked folder, to which paths in problems are relative."""
    folder: Path

    def name(self, file: str) -> str:
        return (self.folder / file).relative_to(self.root).as_posix()

    def problem(self, file: str, field: str, remedy: str) -> Problem:
        return Problem(self.name(file), field, remedy)

    def text(self, file: str) -> str:
        """Read a file; raises DataError if it is missing or no text."""
        try:
            return (self.folder / file).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise DataError("is missing; add it", file=self.name(file)) from None
        except (UnicodeDecodeError, IsADirectoryError):
            raise DataError("is not UTF-8 text; write it as such", file=self.name(file)) from None

    def json(self, file: str) -> dict[str, Any]:
        return self._object(file, self.text(file), 0)

    def rows(self, file: str) -> list[dict[str, Any]]:
        texts = enumerate(self.text(file).split("\n"), start=1)
        return [self._object(file, text, line) for line, text in texts if text.strip()]

    def fields(self, file: str) -> dict[str, Any]:
        found = self.yaml(file)
        if not isinstance(found, dict):
            raise DataError("holds no fields; write name: ..., site: ...", file=self.name(file))
        return found

    def yaml(self, file: str) -> Any:
        return parse_yaml(self.text(file), self.name(file))

    def _object(self, file: str, text: str, line: int) -> dict[str, Any]:
        try:
            found = json.loads(text)
        except json.JSONDecodeError as error:
            raise DataError(f"is not JSON: {error.msg}", file=self.name(file), line=line or error.lineno) from None
        except RecursionError:
            raise DataError("is nested too deeply; write JSON by hand", file=self.name(file), line=line) from None
        if not isinstance(found, dict):
            raise DataError(f"is {brief(found)}; write a JSON object", file=self.name(file), line=line)
        return found


def entries(root: Path, pattern: str, marker: str) -> Iterator[SubmittedFolder]:
    """Yield the submissions in a folder, which may itself be one; raises DataError if there is none.

    ``pattern`` is where submissions are below it, e.g. ``evaluation/*/*``; every one has the file ``marker``.
    """
    folders = [root] if (root / marker).is_file() else sorted(path for path in root.glob(pattern) if path.is_dir())
    if not folders:
        raise DataError(f"holds neither {marker} nor {pattern}/{marker}; name the folder of a submission", file=".")
    for folder in folders:
        yield SubmittedFolder(root, folder)


def collect_patches(rows: Rows) -> dict[str, str]:
    """Return patches by instance id, without empty ones and rows that are no predictions."""
    pairs = ((row.get("instance_id"), row.get("model_patch")) for row in rows)
    return {name: patch for name, patch in pairs if isinstance(name, str) and isinstance(patch, str) and patch}


def collect_ids(values: Mapping[str, Any], field: str) -> list[str]:
    found = values.get(field)
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def folder_problems(entry: SubmittedFolder) -> Iterator[Problem]:
    name = entry.folder.resolve().name
    if not _FOLDER.fullmatch(name):
        yield entry.problem("", name, "is no <YYYYMMDD>_<system>; rename the folder, e.g. 20261123_my-agent_my-model")


def row_problems(entry: SubmittedFolder, file: str, rows: Rows, fields: Sequence[str]) -> Iterator[Problem]:
    for number, row in enumerate(rows, start=1):
        for field in fields:
            remedy = _find_fault(row, field)
            if remedy:
                yield Problem(f"{entry.name(file)}:{number}", field, remedy)
    for name, times in Counter(str(row.get("instance_id")) for row in rows).items():
        if times > 1:
            yield entry.problem(file, name, f"is there {times} times; keep one prediction (pass@1)")
    models = sorted({str(row["model_name_or_path"]) for row in rows if row.get("model_name_or_path")})
    if len(models) > 1:
        remedy = f"names {len(models)} models ({', '.join(models[:_FEW])}); submit each by itself"
        yield entry.problem(file, "model_name_or_path", remedy)
    if not rows:
        yield entry.problem(file, "", "holds no predictions; add them")


def _find_fault(row: Mapping[str, Any], field: str) -> str:
    """Return the fault of a field; empty if it has none. Only a patch may be null or empty."""
    if field not in row:
        return "is missing; add it"
    value = row[field]
    if field == "model_patch":
        return "" if isinstance(value, str | None) else f"is {brief(value)}; write a patch, or null for none"
    return "" if isinstance(value, str) and value else f"is {brief(value)}; write a text"


def size_problems(
    entry: SubmittedFolder, file: str, rows: Rows, named: Collection[str], sizes: Mapping[str, int], split: str
) -> Iterator[Problem]:
    """Complain if predictions, and ids that are named as missing, do not add up to the split."""
    size = sizes.get(split)
    if size is None:
        known = ", ".join(sizes)
        yield entry.problem("", split, f"is no split of this leaderboard; move the submission to one of {known}")
        return
    ids = {str(row.get("instance_id")) for row in rows}
    total = len(ids | {str(name) for name in named})
    if total != size:
        more = f" and {total - len(ids)} named as missing" if total > len(ids) else ""
        remedy = f"has {count(len(ids), 'prediction')}{more} of the {size} of {split}; evaluate the whole split"
        yield entry.problem(file, "instance_id", remedy)


def field_problems(
    entry: SubmittedFolder, file: str, values: Mapping[str, Any], needed: Mapping[str, type], place: str = ""
) -> Iterator[Problem]:
    """Complain about missing or wrong fields of metadata; links are texts whose field is site, report or logo."""
    for field, kind in needed.items():
        value, name = values.get(field), f"{place}{field}"
        if value is None or value in ("", []):
            yield entry.problem(file, name, "is missing; add it")
        elif not isinstance(value, kind):
            wanted = {bool: "true or false", str: "a text", list: "a list"}[kind]
            yield entry.problem(file, name, f"is {brief(value)}; write {wanted}")
        elif field in {"site", "report"} and not str(value).startswith(("http://", "https://")):
            yield entry.problem(file, name, f"is {str(value)[:60]!r}, which is no address; write https://...")


def readme_problems(entry: SubmittedFolder) -> Iterator[Problem]:
    file = entry.folder / "README.md"
    if not file.is_file() or not file.read_bytes().strip():
        yield entry.problem("README.md", "", "is missing or empty; describe the system")


def trajectory_problems(entry: SubmittedFolder, ids: Collection[str]) -> Iterator[Problem]:
    """Complain about instances whose id is in no name of a file or folder in trajs/."""
    folder = entry.folder / "trajs"
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    without = [each for each in sorted(ids) if not any(names_instance(each, name) for name in names)]
    yield from group(entry, "trajs", without, "no reasoning trace has this id in its name; add one (--trajectories)")


def group(entry: SubmittedFolder, file: str, ids: Sequence[str], remedy: str) -> Iterator[Problem]:
    """Yield one problem for each of a few instances, or one for all of many."""
    yield from group_problems(entry.name(file), ids, remedy)


def group_problems(file: str, ids: Sequence[str], remedy: str) -> Iterator[Problem]:
    if len(ids) <= _FEW:
        yield from (Problem(file, name, remedy) for name in ids)
    else:
        yield Problem(file, f"{', '.join(ids[:_FEW])} and {len(ids) - _FEW} more", remedy)


def same_problems(
    entry: SubmittedFolder, file: str, field: str, stated: Collection[str], found: Collection[str]
) -> Iterator[Problem]:
    yield from (
        entry.problem(file, f"{field}: {name}", "its log does not say so; write what the logs show")
        for name in sorted({*stated} - {*found})
    )
    yield from (
        entry.problem(file, f"{field}: {name}", "is missing, although its log says so; write what the logs show")
        for name in sorted({*found} - {*stated})
    )


def names_instance(instance_id: str, path: str) -> bool:
    """Return whether an id is in a path, not as the beginning of a longer number (a-1 in a-12)."""
    _, found, rest = path.lower().partition(instance_id.lower())
    return bool(found) and not rest[:1].isdigit()
