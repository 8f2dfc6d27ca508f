"""The table of a run's instances, which a script filters and sorts."""

from dataclasses import dataclass
from typing import Any

from assay.viewer.index import Entry
from assay.viewer.page import Keys, PageKind, list_runs
from assay.viewer.runs import ViewedRun, Viewer

COLUMNS = ("id", "state", "repo", "unfixed", "broken", "seconds", "cost", "tokens", "flags", "reason")


@dataclass(frozen=True, slots=True)
class InstancesView:
    """The rows, in the form that ``static/table.js`` reads."""

    run: ViewedRun
    data: dict[str, Any]
    total: int


def view(viewer: Viewer, keys: Keys) -> InstancesView | None:
    run = viewer.run(keys["run"])
    if run is None:
        return None
    entries = [*run.now().entries.values()]
    page = "trajectories/ID/0.html" if run.is_solve else "instances/ID.html"
    data = {"run": run.key, "page": page, "columns": _columns(entries), "rows": [_row(each) for each in entries]}
    return InstancesView(run, data, len(entries))


def _columns(entries: list[Entry]) -> list[str]:
    """Return the columns that are not empty in this run."""
    empty = {
        "repo": not any(each.repo for each in entries),
        "flags": not any(each.flags for each in entries),
        "unfixed": not any(each.unfixed for each in entries),
        "broken": not any(each.broken for each in entries),
        "cost": not any(each.usage and each.usage.cost for each in entries),
        "tokens": not any(each.usage and each.usage.tokens for each in entries),
    }
    return [name for name in COLUMNS if not empty.get(name)]


def _row(entry: Entry) -> list[Any]:
    """Return the values of ``COLUMNS``, flags as one text."""
    usage = entry.usage
    return [
        entry.id,
        entry.state,
        entry.repo,
        entry.unfixed,
        entry.broken,
        None if entry.seconds is None else round(entry.seconds, 2),
        usage.cost if usage else None,
        usage.tokens if usage else None,
        " ".join(entry.flags),
        entry.reason,
    ]


PAGE = PageKind("instances", "{run}/instances.html", "instances.html", view, list_runs)
