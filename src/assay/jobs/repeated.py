"""Knows a command whose run is finished by all that its verdicts depend on: then no row is read or planned again.

A verdict's key (``harness/runs/keys.py``) covers the instance, the plan, the prediction and the code. These are made of
the command's options, the files that it names, the code that reads and plans, and what the workbench finds around it.
The digest covers each of them whole: whatever of them changes, every row is planned again, and its key decides.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.metadata import entry_points
from pathlib import Path

from assay.harness.domain import INFRASTRUCTURE, Prediction, Verdict
from assay.harness.errors import AssayError
from assay.harness.files import default_cache, hash_contents, hash_times, replace_file
from assay.harness.runs.finished import load_finished, save_finished
from assay.harness.runs.report import RunReport
from assay.harness.runs.store import RunStore
from assay.instances.dataset.formats.commit0 import TEST_IDS
from assay.instances.dataset.load import FOLDERS_BESIDE
from assay.instances.dataset.rows import BUNDLED, find_table
from assay.jobs.workplace import Workplace

PACKAGE = Path(__file__).parent.parent
BESIDE = (*FOLDERS_BESIDE, TEST_IDS, "stability")
"""Folders beside a table, or in a data set's own, from which rows are completed."""
SHOWN_ONLY = frozenset({"json", "fail_under"})
"""Options that change what is printed alone."""
DO_MORE = ("patchdiff", "cause", "controls", "rerun_failed", "fresh", "commit", "setup", "registry")
"""Options whose command does more than evaluate, or asks machines whose answer is not known here."""


@dataclass(frozen=True)
class EvaluationCommand:
    """One command of evaluations, with all of its options by name."""

    place: Workplace
    runs_dir: Path
    options: Mapping[str, object]
    predictions: Sequence[Prediction] = ()

    def find_finished(self) -> tuple[RunStore, RunReport, list[Verdict]] | None:
        """Return the run that the same command finished, with what it reported, if nothing has changed since."""
        digest = self.digest  # before anything is read for good
        try:
            store = RunStore(self.runs_dir / self._file.read_text())
        except (OSError, ValueError):
            return None
        found = load_finished(store, digest) if digest else None
        return (store, *found) if found else None

    def note_finished(self, store: RunStore, report: RunReport) -> None:
        """Keep the digest of a finished run, unless something that it covers changed while the run was at work."""
        failed = INFRASTRUCTURE & set(report.outcomes.values())
        if not self.digest or failed or store.load_report() != report or self._make_digest() != self.digest:
            return
        save_finished(store, self.digest)
        replace_file(self._file, store.root.name.encode())

    @cached_property
    def digest(self) -> str:
        """The hash of all that the verdicts depend on, as it was when first asked for; empty if it cannot be known."""
        with suppress(AssayError, OSError):  # whoever reads it for good names the fault
            return self._make_digest()
        return ""

    @property
    def _file(self) -> Path:
        return self.runs_dir / ".index" / "commands" / sha256(self._options.encode()).hexdigest()

    @cached_property
    def _options(self) -> str:
        named = {name: str(value) for name, value in self.options.items() if name not in SHOWN_ONLY}
        return repr((sorted(named.items()), str(Path.cwd()), repr(self.place.toolchains)))

    def _make_digest(self) -> str:
        if any(self.options.get(name) for name in DO_MORE) or self.place.executor != "local":
            return ""
        if ":" in self.place.engine or any(group.startswith("assay.") for group in entry_points().groups):
            return ""  # code of a plug-in, which has no edition
        around = self.place.bench.hash_surroundings()
        return sha256("\0".join([around, *self._list_parts()]).encode()).hexdigest() if around else ""

    def _list_parts(self) -> Iterator[str]:
        yield self._options
        yield repr(sorted(item for item in os.environ.items() if item[0].startswith("ASSAY_")))
        yield hash_installation()
        yield hash_times(default_cache() / "counters")
        named = self.options.get("dataset")
        dataset = BUNDLED.get(str(named), Path(str(named)).expanduser())
        split = self.options.get("split")
        yield find_table(str(named), str(split) if split else None).revision
        top = dataset if dataset.is_dir() else dataset.parent
        yield hash_contents(*(top / name for name in BESIDE)) if dataset.exists() else ""
        files = (self.options.get(name) for name in ("labels", "stability", "durations"))
        yield hash_contents(*(Path(str(file)) for file in files if file))
        yield hash_contents(*(Path(folder).expanduser() for folder in self.place.recipes))
        predicted = sha256()
        for each in self.predictions:  # their own repr leaves out the patch
            predicted.update(repr(each.model_dump()).encode(errors="surrogatepass"))
        yield predicted.hexdigest()


def hash_installation() -> str:
    """Return the hash of Assay's own files, and of what is installed beside it."""
    folders = (Path(each) for each in sys.path if each)
    installed = (each.name for folder in folders if folder.is_dir() for each in folder.glob("*.dist-info"))
    return f"{hash_contents(*sorted(PACKAGE.iterdir()))} {sys.version} {sorted(installed)}"
