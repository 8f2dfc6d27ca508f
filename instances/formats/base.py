"""What a data-set dialect is, and the small readers of row columns that dialects share."""

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any, Protocol

from pydantic import ValidationError

from assay.harness.domain import DatasetRef, Instance
from assay.harness.errors import DataError

Row = Mapping[str, Any]
"""One instance as a file holds it: the only dict in Assay, and it ends in ``to_instance``."""


class Format(Protocol):
    """A dialect of data-set rows; a module with these members, listed in ``FORMATS``."""

    NAME: str

    def matches(self, row: Row) -> bool:
        """Tell whether a row is of this dialect."""
        ...

    def to_instance(self, row: Row, dataset: DatasetRef) -> Instance:
        """Read a row; raises DataError with id and field."""
        ...

    def from_instance(self, instance: Instance) -> dict[str, Any]:
        """Write an instance as a row; raises DataError when the dialect cannot hold it."""
        ...


def text(row: Row, field: str, *, required: bool = True) -> str:
    """Return a column as text; an absent optional column or a null is empty."""
    value = row.get(field)
    if value is None:
        if required:
            raise DataError("is missing; every row needs it", instance=row_id(row), field=field)
        return ""
    if not isinstance(value, str):
        raise DataError(f"is {kind(value)}; write a string", instance=row_id(row), field=field)
    return value


def names(row: Row, field: str) -> tuple[str, ...]:
    """Return a list of test names that is a list or a list written as a JSON string; doubles are dropped."""
    value = row.get(field)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise DataError("is neither a list nor a JSON list", instance=row_id(row), field=field) from None
    if value is None:
        raise DataError("is missing; write a list of test names", instance=row_id(row), field=field)
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise DataError(f"is {kind(value)}; write a list of test names", instance=row_id(row), field=field)
    return tuple(dict.fromkeys(value))


def moment(row: Row, field: str) -> datetime:
    """Return a time that is ISO text (``T`` or blank), epoch milliseconds or a datetime; UTC when it names no zone."""
    value = row.get(field)
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value.strip())
        elif isinstance(value, int | float) and not isinstance(value, bool):
            value = datetime.fromtimestamp(value / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    if isinstance(value, date) and not isinstance(value, datetime):  # what YAML makes of a day without a time
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime):
        problem = f"is {kind(value)}; write a time such as 2023-05-01T15:42:12Z"
        raise DataError(problem, instance=row_id(row), field=field)
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def row_id(row: Row) -> str:
    """Return the id of a row for a message, or nothing."""
    value = row.get("instance_id")
    return value if isinstance(value, str) else ""


def kind(value: object) -> str:
    """Say in a few words what a wrong value is."""
    if value is None:
        return "missing"
    return "an object" if isinstance(value, Mapping) else repr(value)[:40]


def build(columns: Mapping[str, str], **fields: Any) -> Instance:
    """Make an instance; what the model refuses becomes a DataError that names the row's column."""
    try:
        return Instance(**fields)
    except ValidationError as error:
        raise wrong_field(error, str(fields.get("id", "")), columns) from None


def wrong_field(error: ValidationError, instance: str, columns: Mapping[str, str]) -> DataError:
    """Turn the first complaint of a model into a DataError."""
    first = error.errors(include_url=False)[0]
    names = [columns.get(str(part), str(part)) for part in first["loc"]]
    message = str(first.get("ctx", {}).get("error", first["msg"]))
    if first["type"] == "string_pattern_mismatch":
        message = f"{str(first['input'])[:60]!r} is not allowed here"
    return DataError(message, instance=instance, field=".".join(names))
