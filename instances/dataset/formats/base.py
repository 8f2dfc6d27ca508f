"""The Protocol of data-set formats, and the writing of rows in any of them.

A column that no field of an instance holds is kept in ``Instance.origin`` as text that nothing interprets, so a
row can be written again.
"""

from typing import Any, Protocol

from assay.harness.domain import DatasetRef, Instance, Rule
from assay.harness.errors import DataError
from assay.instances.dataset.formats.columns import Row


class DatasetFormat(Protocol):
    """A dialect of data-set rows: a module with these members, listed in ``FORMATS``."""

    NAME: str
    """What ``--to`` calls it."""
    RULES: tuple[Rule, ...]
    """The rules that its instances may be graded by, the usual one first; no other instance can be written."""

    def matches(self, row: Row, /) -> bool:
        """Return whether a row is of this dialect; must not raise, whatever the row."""
        ...

    def find_id(self, row: Row, /) -> str:
        """Return the instance id that a row has or that its columns make up; empty if they do not.

        Must not raise: the loader asks before it reads a row, to select instances and to find duplicates.
        """
        ...

    def to_instance(self, row: Row, dataset: DatasetRef) -> Instance:
        """Read a row; raises DataError with the instance's id and the wrong field."""
        ...

    def from_instance(self, instance: Instance) -> dict[str, Any]:
        """Write an instance as a row; raises DataError if it lacks what every row needs.

        Leave out other fields that rows cannot hold: ``write`` finds and reports them.
        """
        ...


def write(dialect: DatasetFormat, instance: Instance) -> dict[str, Any]:
    """Write an instance as a row that reads as the same; DataError names the first field that the dialect cannot hold.

    Columns that no field of an instance holds (``origin``) are written in the instance's own dialect only. An instance
    without an image may come back with the one that its row names: whoever loads rows chooses.
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
    free = {"origin"} if instance.environment else {"origin", "environment"}
    for name in Instance.model_fields:
        if name not in free and getattr(read, name) != getattr(instance, name):
            raise DataError(f"cannot be held by rows of {dialect.NAME}", instance=instance.id, field=name)
    return row
