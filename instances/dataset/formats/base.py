"""What a data-set dialect is, and the small readers of row columns that dialects share."""

import json
import re
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, date, datetime
from typing import Any, Protocol

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from assay.harness.domain import STAGED, UNKNOWN_TIME, DatasetRef, Instance, Origin, Rule
from assay.harness.errors import DataError

Row = Mapping[str, Any]
"""One instance as a file holds it: the only dict in Assay, and it ends in ``to_instance``."""

REQUIRED = frozenset(name for name, field in Instance.model_fields.items() if field.is_required())


class DatasetFormat(Protocol):
    """A dialect of data-set rows; a module with these members, listed in ``FORMATS``."""

    NAME: str
    RULES: tuple[Rule, ...]
    """By which its instances may be graded; the usual one first."""

    def matches(self, row: Row) -> bool:
        """Tell whether a row is of this dialect."""
        ...

    def id_of(self, row: Row) -> str:
        """Return the instance id that a row has or that its columns make up; empty when they do not."""
        ...

    def to_instance(self, row: Row, dataset: DatasetRef) -> Instance:
        """Read a row; raises DataError with id and field."""
        ...

    def from_instance(self, instance: Instance) -> dict[str, Any]:
        """Write an instance as a row; raises DataError when it lacks what every row needs.

        Other fields that rows cannot hold are left out, which ``write`` sees to.
        """
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


def commit(row: Row, field: str, value: object = None) -> str:
    """Return a column (or a value found below it) that is a full commit id."""
    value = text(row, field) if value is None else value
    if value == "":
        raise DataError("is missing; write a commit id of 40 hex digits", instance=row_id(row), field=field)
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{40}", value):
        problem = f"{str(value)[:50]!r} is not a full commit id of 40 hex digits"
        raise DataError(problem, instance=row_id(row), field=field)
    return value


def names(row: Row, field: str, parse: Callable[[str], object] = json.loads) -> tuple[str, ...]:
    """Return a list of test names; doubles are dropped.

    Args:
        row: the row.
        field: the column.
        parse: what makes a list of one that is written as a string.
    """
    value = row.get(field)
    if isinstance(value, str):
        try:
            value = parse(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            problem = "is neither a list nor a JSON list" if parse is json.loads else "is not a list"
            raise DataError(f"{problem}; write a list of test names", instance=row_id(row), field=field) from None
    if value is None:
        raise DataError("is missing; write a list of test names", instance=row_id(row), field=field)
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise DataError(f"is {kind(value)}; write a list of test names", instance=row_id(row), field=field)
    return tuple(dict.fromkeys(value))


def moment(row: Row, field: str, *, required: bool = True) -> datetime:
    """Return a time that is ISO text (``T`` or blank), epoch milliseconds or a datetime; UTC when it names no zone.

    An empty column says that nobody knows the time; the column may be absent only where it is not required.
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
    if isinstance(value, date) and not isinstance(value, datetime):  # what YAML makes of a day without a time
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime):
        problem = f"is {kind(value)}; write a time such as 2023-05-01T15:42:12Z, or null if nobody knows it"
        raise DataError(problem, instance=row_id(row), field=field)
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def iso(instance: Instance) -> dict[str, str]:
    """Return the column ``created_at`` as ISO text; none when nobody knows the time."""
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
            problem = "is neither an object nor a JSON object; write one"
            raise DataError(problem, instance=row_id(row), field=field) from None
    if not isinstance(value, Mapping):
        raise DataError(f"is {kind(value)}; write an object", instance=row_id(row), field=field)
    return value


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
    _check_labels(columns, fields)
    try:
        return Instance(**fields)
    except ValidationError as error:
        raise wrong_field(error, str(fields.get("id", "")), columns) from None


def wrong_field(error: ValidationError, instance: str, columns: Mapping[str, str]) -> DataError:
    """Turn the first complaint of a model into a DataError."""
    first = error.errors(include_url=False)[0]
    names = [columns.get(str(part), str(part)) for part in first["loc"]]
    return DataError(_in_our_words(first), instance=instance, field=".".join(names))


def _in_our_words(error: ErrorDetails) -> str:
    """Say what a model refuses and what to write instead."""
    about = error.get("ctx", {})
    match error["type"]:
        case "missing":
            return "is missing; every row needs it"
        case "extra_forbidden":
            return "is unknown; correct its name or leave it out"
        case "enum":
            return f"is {kind(error['input'])}; write one of {about['expected']}"
        case "string_pattern_mismatch":
            shape = "64 hex digits" if "{64}" in about["pattern"] else "letters, digits, '.', '-' and '_' only"
            return f"{str(error['input'])[:60]!r} is not allowed here; write {shape}"
    return str(about.get("error", error["msg"]))


def _check_labels(columns: Mapping[str, str], fields: Mapping[str, Any]) -> None:
    """Check what concerns several columns, so that one of them can be named."""
    fixed, kept = (columns.get(name, name) for name in ("fail_to_pass", "pass_to_pass"))
    both = sorted(set(fields["fail_to_pass"]) & set(fields["pass_to_pass"]))
    if both:
        problem = f"shares {both[0]!r} with {kept}; keep it in one of them"
        raise DataError(problem, instance=str(fields["id"]), field=fixed)
    if fields.get("rule") in STAGED and fields.get("stages") is None:
        problem = f"is missing; the rule {fields['rule']} compares with earlier runs"
        raise DataError(problem, instance=str(fields["id"]), field="stages")


def origin(dialect: str, row: Row, held: Collection[str]) -> Origin | None:
    """Return the columns of a row that no field of its instance holds."""
    rest = sorted((name, value) for name, value in row.items() if name not in held)
    if not rest:
        return None
    return Origin(dialect=dialect, columns=tuple((name, json.dumps(value, default=str)) for name, value in rest))


def columns_of(instance: Instance, dialect: str) -> dict[str, Any]:
    """Return what a row of this dialect told beyond its instance; nothing for an instance of another dialect."""
    if instance.origin is None or instance.origin.dialect != dialect:
        return {}
    return {name: json.loads(value) for name, value in instance.origin.columns}


def write(dialect: DatasetFormat, instance: Instance) -> dict[str, Any]:
    """Write an instance as a row that reads as the same instance; it is read again to make sure.

    What an instance's own dialect told beyond the instance (``origin``) goes into rows of that dialect only.

    Raises:
        DataError: names the first field that the dialect cannot hold.
    """
    if instance.rule not in dialect.RULES:
        problem = f"is {instance.rule}; rows of {dialect.NAME} are graded by {', '.join(dialect.RULES)}"
        raise DataError(problem, instance=instance.id, field="rule")
    row = dialect.from_instance(instance)
    try:
        read = dialect.to_instance(row, instance.dataset)
    except DataError as error:
        problem = f"rows of {dialect.NAME} need it: {error.problem}"
        raise DataError(problem, instance=instance.id, field=error.field) from None
    for name in Instance.model_fields:
        if name != "origin" and getattr(read, name) != getattr(instance, name):
            raise DataError(f"cannot be held by rows of {dialect.NAME}", instance=instance.id, field=name)
    return row
