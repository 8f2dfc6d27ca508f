"""Readers of row columns that data-set formats share; each raises DataError with the instance's id and the column."""

import json
import re
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, date, datetime
from typing import Any

from pydantic import ValidationError

from assay.harness.benchmarks import check_stages
from assay.harness.domain import UNKNOWN_TIME, Instance, Origin
from assay.harness.errors import DataError, brief, field_error
from assay.harness.languages import LANGUAGES

Row = Mapping[str, Any]
"""One instance as a file holds it; ``to_instance`` is the last function that sees it."""

LANGUAGE_COLUMNS = frozenset({"language", "lang"})
"""Columns with a language's name, which data sets spell in many ways; a row is written with its own spelling."""


def make_matcher(*columns: str) -> Callable[[Row], bool]:
    """Return the ``matches`` of a dialect whose rows have one of these columns."""
    return lambda row: any(name in row for name in columns)


def row_error(row: Row, field: str, problem: str) -> DataError:
    return DataError(problem, instance=row_id(row), field=field)


def text(row: Row, field: str, *, required: bool = True) -> str:
    """Return a column as text; an absent optional column or a null is empty."""
    value = row.get(field)
    if value is None:
        if required:
            raise row_error(row, field, "is missing; every row needs it")
        return ""
    if not isinstance(value, str):
        raise row_error(row, field, f"is {brief(value)}; write a string")
    return value


def commit(row: Row, field: str, value: object = None) -> str:
    """Return a column, or a value found below it, if it is a full commit id."""
    value = text(row, field) if value is None else value
    if value == "":
        raise row_error(row, field, "is missing; write a commit id of 40 hex digits")
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{40}", value):
        raise row_error(row, field, f"{str(value)[:50]!r} is not a full commit id of 40 hex digits")
    return value


def names(row: Row, field: str, parse: Callable[[str], object] = json.loads) -> tuple[str, ...]:
    """Return a column's test names without duplicates; ``parse`` reads a list that is written as a string."""
    value = row.get(field)
    if isinstance(value, str):
        try:
            value = parse(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            problem = "is neither a list nor a JSON list" if parse is json.loads else "is not a list"
            raise row_error(row, field, f"{problem}; write a list of test names") from None
    if value is None:
        problem = "is missing; write a list of test names, or measure them: assay dataset validate ROWS --write DIR"
        raise row_error(row, field, problem)
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise row_error(row, field, f"is {brief(value)}; write a list of test names")
    return tuple(dict.fromkeys(value))


def moment(row: Row, field: str, *, required: bool = True) -> datetime:
    """Return a column's time, given as ISO text, epoch milliseconds or a datetime; UTC if it names no zone.

    An empty column means that the time is unknown. The column may be absent only if it is not required.
    """
    value = row.get(field)
    if value in (None, "") and (field in row or not required):
        return UNKNOWN_TIME
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value.strip())
        elif isinstance(value, int | float) and not isinstance(value, bool):
            value = datetime.fromtimestamp(value / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    if isinstance(value, date) and not isinstance(value, datetime):  # YAML reads a day without a time so
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime):
        problem = f"is {brief(value)}; write a time such as 2023-05-01T15:42:12Z, or null if it is unknown"
        raise row_error(row, field, problem)
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def iso(instance: Instance) -> dict[str, str]:
    """Return the column ``created_at`` as ISO text; no column if the time is unknown."""
    if instance.created_at == UNKNOWN_TIME:
        return {}
    return {"created_at": instance.created_at.isoformat().replace("+00:00", "Z")}


def mapping(row: Row, field: str) -> Mapping[str, Any]:
    """Return a column that is an object, or an object written as a JSON string."""
    value = row.get(field)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise row_error(row, field, "is neither an object nor a JSON object; write one") from None
    if not isinstance(value, Mapping):
        raise row_error(row, field, f"is {brief(value)}; write an object")
    return value


def read_card_count(row: Row, field: str, value: object) -> int:
    """Return how many cards a value asks for; a null asks for none."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise row_error(row, field, f"is {brief(value)}; write a number of GPUs, 0 for none")
    return value


def row_id(row: Row) -> str:
    value = row.get("instance_id")
    return value if isinstance(value, str) else ""


def build(columns: Mapping[str, str], **fields: Any) -> Instance:
    """Create an instance from fields; ``columns`` names the columns of fields that rows call otherwise."""
    _check_labels(columns, fields)
    repo = fields.get("repo", "")
    if isinstance(repo, str) and not all(part.strip() for part in repo.split("/")):
        problem = f"is {brief(repo)}; write owner/name" if repo.strip() else "is empty; write owner/name"
        raise DataError(problem, instance=str(fields["id"]), field=columns.get("repo", "repo"))
    try:
        instance = Instance(**fields)
    except ValidationError as error:
        raise field_error(error, instance=str(fields.get("id", "")), columns=columns) from None
    check_stages(instance)
    return instance


def _check_labels(columns: Mapping[str, str], fields: Mapping[str, Any]) -> None:
    """Check what concerns several columns, so that the error names one of them."""
    fixed, kept = (columns.get(name, name) for name in ("fail_to_pass", "pass_to_pass"))
    if both := sorted(set(fields["fail_to_pass"]) & set(fields["pass_to_pass"])):
        problem = f"shares {both[0]!r} with {kept}; keep it in one of them"
        raise DataError(problem, instance=str(fields["id"]), field=fixed)


def origin(dialect: str, row: Row, held: Collection[str]) -> Origin | None:
    """Return the columns of a row that no field of its instance holds, and a language that Assay calls otherwise."""
    rest = sorted((name, value) for name, value in row.items() if name not in held or _is_respelled(name, value))
    if not rest:
        return None
    return Origin(dialect=dialect, columns=tuple((name, _dump_column(row, name, value)) for name, value in rest))


def _is_respelled(name: str, value: object) -> bool:
    return name in LANGUAGE_COLUMNS and isinstance(value, str) and value not in LANGUAGES


def _dump_column(row: Row, field: str, value: object) -> str:
    try:
        return json.dumps(value, default=str)
    except (ValueError, RecursionError):  # YAML has anchors
        raise row_error(row, field, "holds itself; write it out") from None


def read_origin(instance: Instance, dialect: str) -> dict[str, Any]:
    """Return the columns kept in ``origin``; empty for an instance from another dialect."""
    if instance.origin is None or instance.origin.dialect != dialect:
        return {}
    return {name: json.loads(value) for name, value in instance.origin.columns}
