"""Dates by which instances share what is below them: packages as of a quarter, trees of a quarter, month and week."""

from datetime import UTC, datetime


def epochs(moment: datetime) -> tuple[datetime, datetime, datetime]:
    """Return the starts of the quarter, the month and the week of the month that a moment is in, in UTC."""
    day = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    month = day.replace(day=1)
    return month.replace(month=(day.month - 1) // 3 * 3 + 1), month, day.replace(day=(day.day - 1) // 7 * 7 + 1)
