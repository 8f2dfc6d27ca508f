"""Loads the instances and runs that a command line names."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from assay.harness.errors import UserError

if TYPE_CHECKING:
    from assay.harness.domain import Instance
    from assay.harness.exports.base import RunToExport
    from assay.harness.runs.store import RunStore
    from assay.instances.dataset.imports import Imported
    from assay.instances.dataset.load import Loaded
    from assay.jobs.annotate import Annotator
    from assay.viewer.runs import Viewer


def load_instances(
    dataset: str,
    ids: list[str] | None,
    split: str | None,
    *,
    skip_bad_rows: bool = False,
    published_images: bool = False,
    may_lack_labels: bool = False,
    may_be_empty: bool = True,
    says: bool = True,
    mirrors: Sequence[Path] | None = None,
) -> "Loaded":
    """Load a data set.

    Args:
        dataset: alias, hub id, file or folder.
        ids: only these instances; all if none are given.
        split: split of a hub data set or folder.
        skip_bad_rows: report wrong rows in the result and leave them out.
        published_images: instances keep the images that their rows name.
        may_lack_labels: take rows without columns of labels for rows without any label.
        may_be_empty: whether there may be no instance.
        says: print skipped rows on stderr.
        mirrors: folders with clones, for rows that leave their fix to one.

    Raises:
        DataError: a row is wrong. UserError: there is no such data set or instance.
    """
    from assay.cli.config import sources
    from assay.cli.console import say
    from assay.instances.dataset.load import load, load_to_label

    reader = load_to_label if may_lack_labels else partial(load, published_images=published_images)
    loaded = reader(dataset, ids=ids or (), split=split, skip_bad_rows=skip_bad_rows, sources=sources(mirrors))
    if says:
        for problem in loaded.problems:
            say(f"skipped: {problem}")
    if not (loaded.instances or may_be_empty):
        raise UserError(f"{dataset} has no instance")
    return loaded


def load_to_evaluate(
    dataset: str,
    ids: list[str] | None,
    split: str | None,
    *,
    skip_bad_rows: bool,
    mirrors: Sequence[Path] | None = None,
) -> "Sequence[Instance]":
    """Load instances with the images that their rows name; raises UserError if there is none."""
    options = {"skip_bad_rows": skip_bad_rows, "published_images": True, "may_be_empty": False}
    return load_instances(dataset, ids, split, **options, mirrors=mirrors).instances


def apply_quarantine(instances: "Sequence[Instance]", dataset: str, stability: Path | None) -> "Sequence[Instance]":
    """Leave out the unstable tests that a stability file, or else the data set itself, records."""
    from assay.cli.console import say
    from assay.harness.grading.stability import quarantine, read_stability
    from assay.harness.names import count
    from assay.harness.sequences import keep_items
    from assay.instances.dataset.formats.native import read_stability as read_own
    from assay.instances.dataset.rows import BUNDLED

    if stability is not None:
        records = list(read_stability(stability).instances)
    else:
        records = read_own(BUNDLED.get(dataset, Path(dataset).expanduser()), [each.id for each in instances])
    names = {each.instance_id: each.quarantined for each in records if each.quarantined}
    reduced = keep_items(quarantine(each, names.get(each.id, ())) for each in instances) if names else instances
    numbers = [len(each.quarantined) for each in reduced if each.quarantined]
    if numbers:
        say(f"{count(sum(numbers), 'test')} of {count(len(numbers), 'instance')} quarantined")
    return reduced


def apply_labels(instances: "Sequence[Instance]", labels: Path | None) -> "Sequence[Instance]":
    """Put the labels of a file in place of the instances' own; print how many have new ones. Raises UserError."""
    if labels is None:
        return instances
    from assay.cli.console import say
    from assay.harness.names import count
    from assay.instances.dataset.labels import read_labels, relabel

    found = read_labels(labels)
    known = sum(each.id.lower() in found.by_id for each in instances)
    result = relabel(instances, found)
    say(f"{count(known, 'instance')} of {len(instances)} with the labels of {labels}")
    return result


def apply_rule(rule: str | None, instances: "Sequence[Instance]") -> "Sequence[Instance]":
    """Make tasks of another rule from instances; raises UserError (DataError)."""
    if rule is None:
        return instances
    from assay.harness.sequences import keep_items
    from assay.instances.dataset.swt_tasks import make_test_task

    return keep_items(map(make_test_task, instances))


def load_predictions(path: Path) -> "Imported":
    """Read the predictions of a file or folder, or of standard input (-); name what has none. Raises UserError."""
    from assay.cli.console import say
    from assay.instances.dataset.imports import import_predictions

    imported = import_predictions(path)
    for note in imported.notes:
        say(f"no prediction for {note}")
    return imported


def find_run(run: str, runs_dir: Path) -> "RunStore":
    """Find a run of evaluations by its name or its folder.

    Raises UserError, which names known runs, or what in a run's folder leads out of it.
    """
    from assay.harness.files import refuse_links
    from assay.harness.runs.manifest import RunKind

    store = find_any_run(run, runs_dir)
    refuse_links(store.root)
    if store.load_run().kind is RunKind.SOLVE:
        raise UserError(
            f"{store.root} is the run of a solver and has no verdicts; those of `solve --evaluate` are in "
            f"{store.root.name}.evaluated, others come from assay evaluate DATASET -p {store.root / 'preds.jsonl'}"
        )
    return store


def find_run_to_export(
    run: str, runs_dir: Path, trajectories: Path | None = None, metadata: Path | None = None
) -> "RunToExport":
    """Find a run of evaluations with its trajectories: those of a folder, or of the solver's run beside it."""
    from assay.harness.exports.base import RunToExport
    from assay.harness.exports.metadata import SubmissionMetadata, read_metadata
    from assay.harness.exports.trajectories import find_trajectories, solver_folder

    store = find_run(run, runs_dir)
    ids = [each.instance_id for each in store.load_predictions()]
    source = trajectories or solver_folder(store.root)
    if trajectories is not None and not trajectories.is_dir():
        raise UserError(f"{trajectories}: there is no such folder of trajectories")
    return RunToExport(
        store,
        read_metadata(metadata) if metadata else SubmissionMetadata(),
        find_trajectories(source, ids, store.root.resolve().name) if source else {},
    )


def find_views(runs: list[str], runs_dir: Path, annotator: "Annotator | None" = None) -> "Viewer":
    """Find runs of any kind, or all readable runs of a folder if none is named; raises UserError."""
    from assay.viewer.runs import Viewer
    from assay.viewer.solved import add_solvers

    stores = [find_any_run(name, runs_dir) for name in runs] if runs else [*list_runs(runs_dir)]
    if not stores:
        raise UserError(f"there is no run in {runs_dir}; name the folder of runs with --runs-dir, or a run")
    return Viewer(add_solvers(stores), annotator)


def list_runs(runs_dir: Path) -> "Iterator[RunStore]":
    """Yield every readable run of a folder, and print why another is not."""
    from assay.cli.console import say
    from assay.harness.runs.store import RunStore

    for path in sorted(runs_dir.glob("*/run.json")):
        store = RunStore(path.parent)
        try:
            store.load_run()
        except UserError as error:
            say(f"skipped: {error}")
        else:
            yield store


def find_evaluated(run: str, instance_id: str | None, runs_dir: Path) -> "tuple[Instance, str] | None":
    """Find an instance that a run has evaluated, and the patch; None if there is no such run. Raises UserError."""
    from assay.harness.names import did_you_mean

    if _find_folder(run, runs_dir) is None:
        return None
    store = find_run(run, runs_dir)
    patches = {each.instance_id: each.patch for each in store.load_predictions()}
    name = instance_id or (next(iter(patches)) if len(patches) == 1 else "")
    if name not in patches:
        raise UserError(f"{store.root} has no prediction for {name or 'no name (-i ID)'}{did_you_mean(name, patches)}")
    instance = store.load_instance(name)
    if instance is None:
        raise UserError(f"{store.root} has not evaluated {name} yet; name its data set in place of the run")
    return instance, patches[name]


def _find_folder(run: str, runs_dir: Path) -> Path | None:
    return next((folder for folder in (runs_dir / run, Path(run)) if (folder / "run.json").is_file()), None)


def find_any_run(run: str, runs_dir: Path) -> "RunStore":
    """Find a run of any kind; raises UserError, which names known runs."""
    from assay.harness.names import did_you_mean
    from assay.harness.runs.store import RunStore

    if folder := _find_folder(run, runs_dir):
        return RunStore(folder)
    if Path(run).is_dir():
        raise UserError(f"{run} is no run of Assay; for a folder of logs name their instances with --dataset")
    known = [path.parent.name for path in runs_dir.glob("*/run.json")]
    raise UserError(f"there is no run {run!r} in {runs_dir}{did_you_mean(run, known)}")
