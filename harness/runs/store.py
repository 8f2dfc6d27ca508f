"""The run directory: every file name in it and every way it is written and read.

    <run>/{run.json, journal.jsonl, predictions.jsonl, verdicts.jsonl, report.json, finished.json, efficiency.json,
           lock, control,
           instances/<id>/{instance.json, patch.diff, evidence.json, verdict.json, test_output.txt, reports/...,
                           reruns/<n>/{the same files}, patchdiff/{comparison.json, test_*},
                           cause/{cause.json, cause.diff, evidence.json}}
           archives/{index.jsonl, 0001.tar, ...}}       of a large run, in place of what its folders would hold
    <runs>/.index/{verdicts, durations.json, commands/}  what any run here has already judged, and how long tests took

Files, and the folder of an instance, are replaced whole or not at all; the journal only grows, and lines of it that a
crash tore are ignored. Names that begin with a dot are being written; what a crash left of them goes with the next run.
"""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from assay.harness.domain import Cause, Evidence, Instance, Outcome, Prediction, Verdict
from assay.harness.errors import UserError
from assay.harness.evaluation.evaluate import Evaluation, Task
from assay.harness.files import (
    json_lines,
    lock_folder,
    read_model,
    refuse_links,
    replace_file,
    write_file,
)
from assay.harness.grading.stability import StabilityFile
from assay.harness.names import count
from assay.harness.runs.cause_figures import CauseFigures
from assay.harness.runs.efficiency import Efficiency
from assay.harness.runs.evaluations import Evaluations
from assay.harness.runs.index import get_index
from assay.harness.runs.journal import Journal
from assay.harness.runs.keys import grading_edition
from assay.harness.runs.manifest import ANOTHER, REPLACED, Run, RunKind, refuse_another
from assay.harness.runs.patchdiff_figures import PatchDiffFigures
from assay.harness.runs.predictions_file import read_predictions, readable_predictions, write_predictions
from assay.harness.runs.report import RunReport, build_report
from assay.harness.runs.saved import Labels, SavedCause, SavedPatchDiff, SavedVerdict
from assay.version import __version__

FINISHED = "finished.json"  # what finished it (``finished.py``)
CONTROL = "control"  # orders to a run at work (``control.py``)
REPORT_FILES = 5000  # kept of one evaluation; a patch may write any number of them


class RunStore:
    """One run directory.

    One that is ``alone`` takes no verdict from the runs beside it and gives them none. ``rerun`` counts the repetitions
    of a run's evaluations, which lie below what they repeat.
    """

    def __init__(self, root: Path, *, alone: bool = False, rerun: int = 0) -> None:
        self.root = root
        self._runs = root.parent
        self._alone = alone
        self._rerun = rerun
        self.evaluations = Evaluations(root, rerun)

    def rerun(self, number: int) -> "RunStore":
        """Return the store of a repetition of this run's evaluations, from 1."""
        return RunStore(self.root, alone=True, rerun=number)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep every other process from running in this directory.

        Raises UserError: one already does, or something in it leads elsewhere, where it would be written and removed.
        """
        refuse_links(self.root)
        problem = f"another process is running in {self.root}; wait for it, or choose another --run-id"
        with lock_folder(self.root, problem):
            self._sweep()
            yield

    def _sweep(self) -> None:
        for pattern in (".*", "instances/.*", "instances/*/.*", "instances/*/reruns/.*"):
            for path in self.root.glob(pattern):
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()

    def admit(self, kind: RunKind, given: Mapping[str, str], predictions: Iterable[Prediction] = ()) -> None:
        """Raise UserError unless the folder is free, or holds a run of the same command with the same inputs.

        There may be more or fewer predictions than in the run, but no other one for the same instance.
        """
        before = read_model(self.root / "run.json", Run)
        if before is None:
            return
        refuse_another(self.root, before, kind, given)
        if kind in REPLACED:
            return
        known = {each.instance_id: each for each in readable_predictions(self._predictions)}
        given_now = list(predictions)
        if before.assay_version != __version__ and not known.keys() <= {each.instance_id for each in given_now}:
            raise UserError(f"{self.root} was made by Assay {before.assay_version}; evaluate all of it, or {ANOTHER}")
        others = [each.instance_id for each in given_now if known.get(each.instance_id, each) != each]
        if others:
            more = f" and {count(len(others) - 1, 'other instance')}" if len(others) > 1 else ""
            raise UserError(f"{self.root} holds another patch, or model, for {others[0]}{more}; {ANOTHER}")

    def refuse_occupied(self, is_own: Callable[[Run], bool], maker: str, own: str) -> None:
        """Raise UserError unless the folder is new or empty, or has a command's own run; nobody's files are replaced.

        ``maker`` and ``own`` are what the command and its run are called.
        """
        run = read_model(self.root / "run.json", Run)
        if run is not None and not is_own(run):
            raise UserError(f"{self.root} holds a run that no {maker} made; -o names another folder")
        if run is None and self.root.exists() and any(not _is_begun(each.name) for each in self.root.iterdir()):
            raise UserError(f"{self.root} is not empty and holds no {own}; -o names a new folder")

    def save_run(self, run: Run, predictions: Iterable[Prediction]) -> None:
        """Write what this run is and what it was given, beside what earlier commands gave it, unless it replaces them.

        A summary of what was here before is no longer true, and is removed.
        """
        before, given = read_model(self.root / "run.json", Run), list(predictions)
        if before is not None:
            run = before.extend(run)
            if run.kind not in REPLACED:
                names = {each.instance_id for each in given}
                given = [
                    *(each for each in readable_predictions(self._predictions) if each.instance_id not in names),
                    *given,
                ]
        self.evaluations.grow(len(given))
        self._write_run(run, given)

    def _write_run(self, run: Run, predictions: Iterable[Prediction]) -> None:
        for name in (FINISHED, "report.json", "verdicts.jsonl"):
            (self.root / name).unlink(missing_ok=True)
        replace_file(self.root / "run.json", run.model_dump_json(indent=2).encode())
        write_predictions(self._predictions, predictions)

    def become(self, run: Run, predictions: Sequence[Prediction], events: Iterable[Mapping[str, str]]) -> None:
        """Make this the folder of another run, without a report; instances that have no prediction there go."""
        self._write_run(run, predictions)
        Journal(self.root / "journal.jsonl").replace(events)
        self.evaluations.keep(each.instance_id for each in predictions)
        self.evaluations.grow(len(predictions))

    def adopt(self, instance_id: str, other: "RunStore", *, syncs: bool = False) -> None:
        """Take what another run holds of an instance, in place of what is here.

        Without ``syncs`` it may not be on the disk when this returns; who adopts has the disk synced before a summary
        is saved. The two then share files where the disk can: no file of a saved evaluation is ever changed in place.
        """
        self.evaluations.adopt(instance_id, other.evaluations, syncs=syncs)

    def load_run(self) -> Run:
        run = read_model(self.root / "run.json", Run)
        if run is None:
            raise UserError(f"{self.root} holds no readable run.json: it is not a run of Assay")
        return run

    def load_predictions(self) -> tuple[Prediction, ...]:
        return read_predictions(self._predictions)

    def journal(self, event: str, instance_id: str = "", **facts: str) -> None:
        self._note(event, {instance_id: facts})

    def _note(self, event: str, facts: Mapping[str, Mapping[str, str]]) -> None:
        again = {"rerun": str(self._rerun)} if self._rerun else {}
        Journal(self.root / "journal.jsonl").add(event, {name: {**again, **more} for name, more in facts.items()})

    def events(self) -> list[dict[str, str]]:
        return self.read_events()[0]

    def read_events(self, start: int = 0) -> tuple[list[dict[str, str]], int]:
        """Return the events behind a place in the journal, and the place behind them."""
        return Journal(self.root / "journal.jsonl").read(start)

    def save(self, task: Task, evaluation: Evaluation, verdict: Verdict, key: str) -> SavedVerdict:
        """Write an evaluation; raises OSError, and what was there before is still there then."""
        seconds = evaluation.evidence.timings.test
        saved = SavedVerdict(key=key, seconds=seconds, graded=grading_edition(), verdict=verdict)
        reports = sorted(evaluation.report_files.items())[:REPORT_FILES]
        files = {
            "instance.json": task.instance.model_dump_json().encode(),
            "evidence.json": evaluation.evidence.model_dump_json(indent=1).encode(),
            "patch.diff": evaluation.patch.encode(errors="surrogatepass"),
            "test_output.txt": evaluation.output,
            **{f"reports/{Path(name).name}": content for name, content in reports},
        }
        self.evaluations.write(saved, files, self._note_saved)
        return saved

    def _note_saved(self, saved: Sequence[SavedVerdict]) -> None:
        """Note what reached the disk together."""
        with suppress(OSError):  # the verdicts are safe; this saves work and informs people
            if not self._alone:
                run = self.root.relative_to(self._runs)
                get_index(self._runs).add({each.key: f"{run}/instances/{each.verdict.instance_id}" for each in saved})
            outcomes = {each.verdict.instance_id: {"outcome": str(each.verdict.outcome)} for each in saved}
            self._note("finished", outcomes)

    def forget(self, instance_id: str) -> None:
        """Drop the verdict of an instance, since it was given for other content."""
        self.evaluations.drop_verdict(instance_id)

    def find(self, instance_id: str, key: str) -> SavedVerdict | None:
        """Return the verdict for exactly this content, from this run or, copied over, from another run beside it."""
        saved = self.load_verdict(instance_id)
        if saved is not None and saved.key == key:
            return saved
        if self._alone:
            return None
        try:
            found = find_saved(self._runs, get_index(self._runs).find(key))
        except (OSError, ValueError):  # a power failure may leave anything in the index
            return None
        if found is None or found[1].key != key or found[1].verdict.instance_id != instance_id:
            return None
        with suppress(OSError):
            self.adopt(instance_id, found[0], syncs=True)
        return self.load_verdict(instance_id)

    def load_verdict(self, instance_id: str) -> SavedVerdict | None:
        """Return the saved verdict of an instance; None when there is none that can be read whole."""
        return self.evaluations.verdict(instance_id)

    def save_patchdiff(self, saved: SavedPatchDiff, files: Mapping[str, str]) -> Path:
        """Write a comparison and the test files that reproduce what it found; return their folder."""
        folder = self.evaluations.folder(saved.comparison.instance_id) / "patchdiff"
        shutil.rmtree(folder, ignore_errors=True)
        for name, text in files.items():
            write_file(folder / Path(name).name, text.encode(errors="replace"))
        replace_file(folder / "comparison.json", saved.model_dump_json(indent=1).encode())
        self.journal("compared", saved.comparison.instance_id, finding=saved.comparison.finding)
        return folder

    def load_patchdiff(self, instance_id: str) -> SavedPatchDiff | None:
        """Return the saved comparison of an instance's patch; None when there is none that can be read whole."""
        return read_model(self.evaluations.folder(instance_id) / "patchdiff" / "comparison.json", SavedPatchDiff)

    def save_cause(self, saved: SavedCause, evidence: Evidence | None = None) -> None:
        """Write a cause so far and, where it was evaluated just now, the evidence that it resolves."""
        folder = self.evaluations.folder(saved.cause.instance_id) / "cause"
        folder.mkdir(parents=True, exist_ok=True)
        if evidence is not None:
            replace_file(folder / "evidence.json", evidence.model_dump_json(indent=1).encode())
            replace_file(folder / "cause.diff", saved.cause.patch.encode(errors="surrogatepass"))
        replace_file(folder / "cause.json", saved.model_dump_json(indent=1).encode())

    def forget_cause(self, instance_id: str) -> None:
        shutil.rmtree(self.evaluations.folder(instance_id) / "cause", ignore_errors=True)

    def load_cause(self, instance_id: str) -> SavedCause | None:
        """Return the saved cause of an instance's patch; None when there is none that can be read whole."""
        return read_model(self.evaluations.folder(instance_id) / "cause" / "cause.json", SavedCause)

    def load_causes(self) -> list[Cause]:
        """Return the saved causes of all instances."""
        found = (self.load_cause(saved.verdict.instance_id) for saved in self.load_verdicts())
        return [each.cause for each in found if each is not None]

    def load_reruns(self, saved: SavedVerdict) -> list[Evidence]:
        """Return the evidence of every repetition of the evaluation that a verdict was given for."""
        found = []
        for folder in sorted(self.evaluations.folder(saved.verdict.instance_id).glob("reruns/*")):
            again = read_model(folder / "verdict.json", SavedVerdict)
            evidence = read_model(folder / "evidence.json", Evidence)
            if again is not None and evidence is not None and again.key == saved.key:
                found.append(evidence)
        return found

    def load_evidence(self, instance_id: str) -> Evidence | None:
        return self.evaluations.read(instance_id, "evidence.json", Evidence)

    def load_verdicts(self) -> list[SavedVerdict]:
        found = (self.load_verdict(prediction.instance_id) for prediction in self.load_predictions())
        return [saved for saved in found if saved is not None]

    def load_instance(self, instance_id: str) -> Instance | None:
        return self.evaluations.read(instance_id, "instance.json", Instance)

    def load_labels(self, instance_id: str) -> Labels | None:
        """Return the columns that decided an instance's outcome, much faster than the whole instance; or None."""
        return self.evaluations.read(instance_id, "instance.json", Labels)

    def load_outcomes(self) -> dict[str, Outcome]:
        """Return the outcome of each prediction: as the report has it or, of an unfinished run, from the verdicts."""
        if report := self.load_report():
            return report.outcomes
        return {saved.verdict.instance_id: saved.verdict.outcome for saved in self.load_verdicts()}

    def load_report(self) -> RunReport | None:
        return read_model(self.root / "report.json", RunReport)

    def report(self) -> RunReport:
        """Return the saved report or, of a run that did not finish, a report on the verdicts so far."""
        return self.load_report() or self.summarise([saved.verdict for saved in self.load_verdicts()])

    def summarise(
        self,
        verdicts: Iterable[Verdict],
        *,
        ids: Iterable[str] | None = None,
        unfit: Mapping[str, str] | None = None,
        patchdiff: PatchDiffFigures | None = None,
        causes: CauseFigures | None = None,
    ) -> RunReport:
        """Build the report of this run.

        Args:
            verdicts: one of each evaluated prediction.
            ids: every instance that the report is about; all of the run by default.
            unfit: instances that fail their controls, with the reason; None if no controls were run.
            patchdiff: figures of the comparisons with gold; None if nothing was compared.
            causes: figures of the causes of resolved patches; None if none was looked for.
        """
        run, before = self.load_run(), self.load_report()
        asked = {*run.instance_ids, *(each.instance_id for each in self.load_predictions())}
        report = build_report(
            verdicts,
            asked | set(before.incomplete_ids if before else ()) if ids is None else set(ids),
            unfit=unfit,
            run_id=run.id,
            dataset=run.dataset.name,
            model=run.model,
            assay_version=run.assay_version,
        )
        return report.model_copy(update={"patchdiff": patchdiff, "causes": causes})

    def load_efficiency(self) -> Efficiency | None:
        return read_model(self.root / "efficiency.json", Efficiency)

    def add_efficiency(self, found: Efficiency) -> None:
        """Add what one command took to what earlier ones took, if it evaluated anything."""
        if found.evaluations:
            whole = (self.load_efficiency() or Efficiency()).plus(found)
            replace_file(self.root / "efficiency.json", whole.model_dump_json(indent=1).encode())

    def save_verdict(self, saved: SavedVerdict) -> None:
        self.evaluations.replace_verdict(saved)

    def save_report(self, report: RunReport, verdicts: Iterable[Verdict]) -> None:
        (self.root / FINISHED).unlink(missing_ok=True)
        replace_file(self.root / "verdicts.jsonl", json_lines(verdicts))
        replace_file(self.root / "report.json", report.model_dump_json(indent=2).encode())

    def save_stability(self, stability: StabilityFile) -> Path:
        path = self.root / "stability.json"
        replace_file(path, stability.model_dump_json(indent=1).encode())
        return path

    def durations(self) -> dict[str, float]:
        """Return how many seconds each instance's tests took when any run beside this one last ran them."""
        try:
            known: dict[str, float] = json.loads((self._index / "durations.json").read_text())
        except (OSError, ValueError):
            return {}
        return known

    def save_durations(self, seconds: Mapping[str, float]) -> None:
        replace_file(self._index / "durations.json", json.dumps({**self.durations(), **seconds}).encode())

    @property
    def _predictions(self) -> Path:
        return self.root / "predictions.jsonl"

    @property
    def _index(self) -> Path:
        return self._runs / ".index"


def find_saved(runs: Path, place: str) -> tuple[RunStore, SavedVerdict] | None:
    """Return the run, and its verdict, at a place that the index of a folder of runs names; None if it is gone."""
    if not place:
        return None
    *run, _, instance_id = Path(place).parts
    store = RunStore(runs.joinpath(*run))
    saved = store.load_verdict(instance_id)
    return None if saved is None else (store, saved)


def _is_begun(name: str) -> bool:
    """Return whether a file may be of a command that was killed before it wrote the manifest."""
    return name in {"lock", CONTROL} or (name.startswith(".") and name.endswith(".new"))
