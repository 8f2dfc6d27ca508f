"""The runs that are shown."""

import re
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from assay.agents.usage import SampleUsage, sum_usage
from assay.harness.errors import AssayError
from assay.harness.exports.trajectories import EVALUATED
from assay.harness.runs.manifest import Run, RunKind
from assay.harness.runs.report import RunReport
from assay.harness.runs.store import RunStore
from assay.jobs.annotate import Annotator
from assay.viewer.index import Entry, EntryIndex, get_stamp, usage_by_instance
from assay.viewer.text import readable


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A run as its files are at one time."""

    about: Run
    report: RunReport | None
    """The saved report; None before the run has finished."""
    entries: Mapping[str, Entry]
    """Every instance that was asked for or evaluated, by id, sorted."""
    judged: tuple[str, ...]
    """Ids of the instances that have a verdict or a solution, sorted."""
    solver: str = ""

    @property
    def usage(self) -> SampleUsage | None:
        """The solver's usage; None if no run of a solver is known."""
        known = [each.usage for each in self.entries.values() if each.usage is not None]
        return sum_usage(known) if known else None


@dataclass(eq=False)
class ViewedRun:
    """One run, by a name that is safe in a path."""

    key: str
    store: RunStore
    is_solve: bool = False
    """This is the run of a solver, which has solutions in place of verdicts."""
    _stamp: object = None
    _last: Snapshot | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.is_solve = self.store.load_run().kind is RunKind.SOLVE
        self._index = EntryIndex(self.store.root, is_solve=self.is_solve)

    @property
    def name(self) -> str:
        """The name of the folder, which may hold any character."""
        return readable(self.store.root.resolve().name)

    def now(self) -> Snapshot:
        """Return the run as it is; files are read again only if the run has gone on."""
        with self._lock:
            names = ("instances", "run.json", "report.json", "journal.jsonl")
            stamp = [get_stamp(self.store.root / name) for name in names]
            if self._last is None or stamp != self._stamp:
                self._last, self._stamp = self._read(), stamp
            return self._last

    def _read(self) -> Snapshot:
        about = self.store.load_run()
        found = self._index.refresh()
        usage, solver = self._usage() if not self.is_solve else ({}, "")
        for name, used in usage.items():
            if name in found:
                found[name] = replace(found[name], usage=used)
        asked = {name: Entry(readable(name)) for name in about.instance_ids}
        entries = dict(sorted((asked | found).items()))
        judged = tuple(name for name, entry in entries.items() if entry.state)
        return Snapshot(about, None if self.is_solve else self.load_report(), entries, judged, solver)

    def load_report(self) -> RunReport | None:
        """Return the saved report; None if there is none, or a link or pipe in its place."""
        with suppress(AssayError, OSError):
            return self.store.load_report()
        return None

    def usage(self) -> SampleUsage | None:
        """Return the solver's usage, without reading verdicts; None if no run of a solver is known."""
        found = self._usage()[0].values() if not self.is_solve else ()
        return sum_usage(found) if found else None

    def _usage(self) -> tuple[Mapping[str, SampleUsage], str]:
        """Return the usage of the solver's samples that this run judges, and the name of the solver's run."""
        root = self.store.root.resolve()
        match = EVALUATED.fullmatch(root.name)
        if match is None or not (root.parent / match["solve"] / "run.json").is_file():
            return {}, ""
        return usage_by_instance(root.parent / match["solve"], int(match["sample"] or 0)), match["solve"]


class Viewer:
    """All runs that are shown."""

    def __init__(self, stores: Iterable[RunStore], annotator: Annotator | None = None) -> None:
        self.runs: Mapping[str, ViewedRun] = _assign_keys(stores)
        self.annotator = annotator

    def run(self, key: str) -> ViewedRun | None:
        return self.runs.get(key)

    def warm_up(self) -> None:
        """Read every run, so that the first page need not."""
        for run in self.runs.values():
            with suppress(AssayError, OSError):
                run.now()

    def evaluations(self) -> dict[str, ViewedRun]:
        return {key: run for key, run in self.runs.items() if not run.is_solve}


_TAKEN = {"assets", "compare"}  # folders that are no run's


def _assign_keys(stores: Iterable[RunStore]) -> dict[str, ViewedRun]:
    """Give each run a key that is safe in paths and links, like its folder's name where that can be."""
    found: dict[str, ViewedRun] = {}
    for store in stores:
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", store.root.resolve().name).lstrip(".") or "run"
        key, number = name, 2
        while key in found or key in _TAKEN:
            key, number = f"{name}~{number}", number + 1
        found[key] = ViewedRun(key, store)
    return found
