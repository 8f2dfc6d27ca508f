"""The instances of a bundle against those of a data set: whoever sealed it could have changed its labels."""

from collections.abc import Iterable, Iterator

from assay.harness.bundles.consistency import Mismatch, shorten
from assay.harness.domain import UNKNOWN_TIME, Instance, PublishedImage, RowScript
from assay.harness.runs.store import RunStore

COMPARED = (
    *("repo", "base_commit", "archive", "base", "language", "problem_statement", "gold_patch", "test_patch"),
    *("version", "log_format", "test_id", "rule", "stages"),
)
"""Fields that are what the data set says, in every run."""


def check_rows(store: RunStore, expected: Iterable[Instance]) -> Iterator[Mismatch]:
    """Yield the fields of evaluated instances that their data set does not confirm.

    Tests may be quarantined, and are then in neither list; nothing else may be missing from them.
    """
    rows = {each.id: each for each in expected}
    for prediction in store.load_predictions():
        name = f"runs/{store.root.name}/instances/{prediction.instance_id}/instance.json"
        instance = store.load_instance(prediction.instance_id)
        row = rows.get(prediction.instance_id)
        if instance is None:
            continue
        if row is None:
            yield Mismatch(file=name, what="the data set has no such instance")
            continue
        for what in _find_differences(instance, row):
            yield Mismatch(file=name, what=what)


def _find_differences(instance: Instance, row: Instance) -> Iterator[str]:
    for field in COMPARED:
        ours, theirs = getattr(instance, field), getattr(row, field)
        if ours != theirs:
            yield f"{field} is {shorten(ours)}, the data set's is {shorten(theirs)}"
    if row.created_at not in {UNKNOWN_TIME, instance.created_at}:
        yield f"created_at is {instance.created_at}, the data set's is {row.created_at}"
    if not _has_same_environment(instance, row):
        yield "environment is not the data set's"
    if [(each.path, each.sha256) for each in instance.assets] != [(each.path, each.sha256) for each in row.assets]:
        yield "assets are not the data set's"
    left_out = {*instance.quarantined, *row.quarantined}
    for field in ("fail_to_pass", "pass_to_pass"):
        if changed := sorted(({*getattr(instance, field)} ^ {*getattr(row, field)}) - left_out):
            more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
            yield f"{field} is not the data set's: {shorten(changed[0])}{more}"


def _has_same_environment(instance: Instance, row: Instance) -> bool:
    """Compare the environment with the row's; a recipe's may stand in place of it, or Assay's own with the script."""
    own, theirs = instance.environment, row.environment
    if own is None:
        return theirs is None or isinstance(theirs, PublishedImage | RowScript)
    if isinstance(own, RowScript) and isinstance(theirs, PublishedImage | RowScript):
        return own.eval_script == theirs.eval_script
    return own == theirs
