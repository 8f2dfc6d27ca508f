"""Reads predictions: JSON lines, a JSON list, or an object by instance id."""

import json
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.harness.domain import Instance, Prediction
from assay.harness.errors import DataError, UserError, brief
from assay.harness.names import count, nearest
from assay.harness.runs.manifest import ORACLE
from assay.harness.sequences import map_items

MODEL_KEYS = ("model_name_or_path", "model_name_or_patch")
"""The second is a misspelling that published files have."""
OWN_KEYS = frozenset({"instance_id", "model", "patch"})
STDIN = Path("-")  # stands for standard input
BINARY = {
    b"\x1f\x8b": "compressed with gzip",
    b"PK\x03\x04": "a zip archive",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"BZh": "compressed with bzip2",
    b"\xfd7zXZ": "compressed with xz",
    b"PAR1": "parquet",
}
"""Beginnings of files that are no text, and their kinds."""


def read_predictions(path: Path) -> tuple[Prediction, ...]:
    """Read predictions; a null patch is empty. Raises DataError, with file, line and id, for a wrong or second row."""
    predictions: list[Prediction] = []
    seen: dict[str, int] = {}
    for line, row in _rows(path):
        prediction = _prediction(path, line, row)
        first = seen.setdefault(prediction.instance_id.lower(), line)
        if len(seen) == len(predictions):
            unit = "lines" if path.suffix == ".jsonl" else "entries"
            problem = f"is there twice ({unit} {first} and {line}); keep one for each instance"
            raise DataError(problem, file=str(path), line=line, instance=prediction.instance_id)
        predictions.append(prediction)
    return tuple(predictions)


def check_id(name: str, *, file: str, line: int = 0) -> None:
    if "/" in name or "\\" in name or ".." in name:
        problem = f"{name[:60]!r} is no instance id: it has a slash or two dots"
        raise DataError(problem, file=file, line=line, field="instance_id")


def check_predictions(predictions: Iterable[Prediction], known: Collection[str]) -> None:
    """Raise UserError for predictions of instances that the data set does not have; it has these ids in lower case."""
    foreign = [each.instance_id for each in predictions if each.instance_id.lower() not in known]
    if foreign:
        close = nearest(foreign[0], known)
        remedy = f"did you mean {close}?" if close else "correct it, or leave such ones out with --skip-others"
        raise UserError(
            f"the data set lacks the instances of {count(len(foreign), 'prediction')}, such as {foreign[0]}; {remedy}"
        )


def pair_predictions(
    instances: Sequence[Instance],
    predictions: Sequence[Prediction],
    ids: Sequence[str] | None,
    *,
    skip_others: bool = False,
) -> Sequence[tuple[Instance, Prediction]]:
    """Pair predictions with their instances, of ``ids`` if any; raises UserError for a stray prediction or none.

    With ``skip_others``, stray predictions are left out.
    """
    places = {each.id.lower(): place for place, each in enumerate(instances)}
    found = [each for each in predictions if not (ids or skip_others) or each.instance_id.lower() in places]
    check_predictions(found, places)
    if not found:
        raise UserError(f"there is no prediction for {', '.join(ids or ()) or 'any instance'}")
    return map_items(found, lambda each: (instances[places[each.instance_id.lower()]], each))


def read_published(path: Path) -> dict[str, bool]:
    """Return the verdicts in ``published_resolved`` by instance id, where there are any; raises DataError."""
    verdicts: dict[str, bool] = {}
    for line, row in _rows(path):
        verdict = row.get("published_resolved")
        if not isinstance(verdict, bool | None):
            problem = f"is {brief(verdict)}; write true or false"
            raise DataError(problem, file=str(path), line=line, field="published_resolved")
        if verdict is not None:
            verdicts[_prediction(path, line, row).instance_id] = verdict
    return verdicts


def _prediction(path: Path, line: int, row: Mapping[str, Any]) -> Prediction:
    name = _text(path, line, row, "instance_id")
    if not name:
        raise DataError("is missing; every prediction needs it", file=str(path), line=line, field="instance_id")
    check_id(name, file=str(path), line=line)
    if row.keys() >= OWN_KEYS and "model_patch" not in row:  # a line of a run's predictions.jsonl
        row = {**row, MODEL_KEYS[0]: row["model"], "model_patch": row["patch"]}
    if "model_patch" not in row:
        problem = "is missing; write the patch, or null for none"
        raise DataError(problem, file=str(path), line=line, instance=name, field="model_patch")
    model = next((_text(path, line, row, key) for key in MODEL_KEYS if key in row), "")
    patch, oracle = (_text(path, line, row, key) for key in ("model_patch", ORACLE))
    return Prediction(instance_id=name, model=model, patch=patch, oracle=oracle)


def _text(path: Path, line: int, row: Mapping[str, Any], field: str) -> str:
    value = row.get(field)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise DataError(f"is {brief(value)}; write a string", file=str(path), line=line, field=field)
    return value


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield rows with their line in JSON lines, or their position in any other JSON file."""
    text = _read(path)
    rows = _json_lines(path, text) if _is_lines(path, text) else _json_rows(path, text)
    for line, row in rows:
        if not isinstance(row, Mapping):
            raise DataError(f"is {brief(row)}, not a prediction (an object)", file=str(path), line=line)
        yield line, row


def _is_lines(path: Path, text: str) -> bool:
    """Return whether a text is JSON lines, by its first one; that of a .jsonl file is, unless it begins a list."""
    first = text.lstrip().partition("\n")[0]
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return path.suffix == ".jsonl" and not first.startswith("[")
    return isinstance(row, dict) and ("instance_id" in row or path.suffix == ".jsonl")


def _read(path: Path) -> str:
    try:
        content = sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
        kind = next((name for magic, name in BINARY.items() if content.startswith(magic)), "")
        if kind:
            raise DataError(f"is {kind}; give a text file of predictions (.jsonl or .json)", file=str(path))
        return content.decode("utf-8-sig")
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file of predictions") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise DataError("is not UTF-8 text", file=str(path), line=line) from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None


def _json_lines(path: Path, text: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, _parse(path, line, number)


def _json_rows(path: Path, text: str) -> Iterator[tuple[int, Any]]:
    """Yield the rows of a list, or of an object by id, whose keys serve as missing ids."""
    whole = _parse(path, text)
    if isinstance(whole, Mapping):
        rows = ({"instance_id": name, **row} if isinstance(row, Mapping) else row for name, row in whole.items())
        yield from enumerate(rows, start=1)
    elif isinstance(whole, list):
        yield from enumerate(whole, start=1)
    else:
        raise DataError("is neither a list of predictions nor an object by instance id", file=str(path))


def _parse(path: Path, text: str, line: int = 0) -> Any:
    try:
        return json.loads(text, object_pairs_hook=None if line else _single_keys)
    except json.JSONDecodeError as error:
        place = line or error.lineno
        raise DataError(f"is not JSON: {error.msg} (column {error.colno})", file=str(path), line=place) from None
    except RecursionError:
        raise DataError("is not JSON of predictions: it is nested too deeply", file=str(path), line=line) from None
    except ValueError as error:  # DataError is one, and a number of too many digits another
        problem = error.problem if isinstance(error, DataError) else str(error).partition(";")[0]
        raise DataError(problem, file=str(path), line=line) from None


def _single_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that is there twice in one object, which JSON readers accept silently."""
    whole = dict(pairs)
    if len(whole) < len(pairs):
        double = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise DataError(f"{double!r} is there twice; keep one")
    return whole


def prediction_rows(predictions: Iterable[Prediction]) -> str:
    """Return predictions as SWE-bench's rows, a line of JSON each."""
    return "".join(json.dumps(prediction_row(each)) + "\n" for each in predictions)


def prediction_row(prediction: Prediction) -> dict[str, str]:
    """Return a prediction as a row; the mark of an oracle stays with it, wherever the row is copied."""
    row = {"instance_id": prediction.instance_id, MODEL_KEYS[0]: prediction.model, "model_patch": prediction.patch}
    return {**row, ORACLE: prediction.oracle} if prediction.oracle else row
