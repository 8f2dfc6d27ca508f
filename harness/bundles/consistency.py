"""The contents of a run against each other: verdicts from evidence, patches from predictions, figures from verdicts."""

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path

from assay.harness.domain import Model, Prediction, Verdict
from assay.harness.errors import UserError
from assay.harness.files import json_lines, read_regular
from assay.harness.grading.controls import unfit_reason
from assay.harness.runs.regrade import grade_again, report_again
from assay.harness.runs.store import RunStore

Shown = Callable[[str, int, int], None]  # called with a step, how much of it is done and how much there is


class Mismatch(Model):
    """One thing that is not as it should be."""

    file: str
    """Name of the file; empty for the whole."""
    what: str

    def __str__(self) -> str:
        return f"{self.file}: {self.what}" if self.file else self.what


def check_runs(stores: Sequence[RunStore], shown: Shown) -> Iterator[Mismatch]:
    """Yield statements of a run or its controls that do not follow from their own evidence.

    ``stores`` are the run, then perhaps its controls: with gold patches, and without a patch. Raises UserError.
    """
    run, *controls = stores
    graded = []
    for control in controls:
        verdicts = yield from _check_verdicts(control, shown)
        yield from _check_figures(control, verdicts, None)
        graded.append({each.instance_id: each for each in verdicts})
    verdicts = yield from _check_verdicts(run, shown)
    yield from _check_figures(run, verdicts, _find_unfit(verdicts, *graded) if graded else None)


def _find_unfit(
    verdicts: Sequence[Verdict], gold: Mapping[str, Verdict], null: Mapping[str, Verdict]
) -> dict[str, str]:
    names = [each.instance_id for each in verdicts if each.instance_id in gold and each.instance_id in null]
    reasons = {name: unfit_reason(gold[name], null[name]) for name in names}
    return {name: reason for name, reason in reasons.items() if reason}


def _check_verdicts(store: RunStore, shown: Shown) -> Generator[Mismatch, None, list[Verdict]]:
    """Yield the faults of single evaluations; return the verdicts that the evidence gives."""
    predictions, verdicts = store.load_predictions(), []
    for number, prediction in enumerate(predictions):
        shown(f"grading {store.root.name} again", number, len(predictions))
        if Path(prediction.instance_id).name != prediction.instance_id:
            yield Mismatch(file=f"{_name(store)}/predictions.jsonl", what=f"{prediction.instance_id!r} is no instance")
            continue
        saved = store.load_verdict(prediction.instance_id)
        if saved is None:
            continue
        name = f"{_name(store)}/instances/{prediction.instance_id}"
        try:
            verdict = grade_again(store, saved)
        except UserError as error:
            yield Mismatch(file=f"{name}/evidence.json", what=str(error))
            continue
        if verdict.instance_id != prediction.instance_id:
            yield Mismatch(file=f"{name}/verdict.json", what=f"is the verdict of {verdict.instance_id}")
        if verdict != saved.verdict:
            yield Mismatch(
                file=f"{name}/verdict.json", what=_list_differences(saved.verdict, verdict, "its evidence gives")
            )
        if not _has_patch(store, prediction):
            yield Mismatch(file=f"{name}/patch.diff", what="is not the patch in predictions.jsonl")
        verdicts.append(verdict)
    return verdicts


def _check_figures(store: RunStore, verdicts: Sequence[Verdict], unfit: Mapping[str, str] | None) -> Iterator[Mismatch]:
    saved = Counter(map(_add_defaults, read_regular(store.root / "verdicts.jsonl").split(b"\n")))
    expected = Counter(json_lines(verdicts).split(b"\n"))
    if saved != expected:
        wrong, lacking = (saved - expected).total(), (expected - saved).total()
        what = f"{wrong} lines are not what the evidence gives, and {lacking} that it gives are missing"
        yield Mismatch(file=f"{_name(store)}/verdicts.jsonl", what=what)
    name, report = f"{_name(store)}/report.json", store.load_report()
    if report is None:
        yield Mismatch(file=name, what="is no report of this version of Assay")
        return
    if report.unfit_reasons is not None and unfit is None:
        yield Mismatch(file=name, what="leaves unfit instances out, but the runs of the controls are not here")
    again = report_again(store, verdicts, unfit)
    if again != report:
        yield Mismatch(file=name, what=_list_differences(report, again, "the evidence gives"))


def _add_defaults(line: bytes) -> bytes:
    """Return a verdict's line as this version writes it; a line that is no verdict stays."""
    try:
        return Verdict.model_validate_json(line).model_dump_json().encode()
    except ValueError:
        return line


def _list_differences(saved: Model, found: Model, gives: str) -> str:
    names = [name for name in type(saved).model_fields if getattr(saved, name) != getattr(found, name)]
    texts = [
        f"{name} is {shorten(getattr(saved, name))}, {gives} {shorten(getattr(found, name))}" for name in names[:3]
    ]
    return "; ".join(texts) + (f"; and {len(names) - 3} more fields" if len(names) > 3 else "")


def shorten(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _has_patch(store: RunStore, prediction: Prediction) -> bool:
    """Compare the patches; the gate adds a final newline at most."""
    evaluated = store.evaluations.file(prediction.instance_id, "patch.diff") or b""
    predicted = prediction.patch.encode(errors="surrogatepass")
    return evaluated in {predicted, predicted + b"\n"} or not (evaluated or predicted.strip())


def _name(store: RunStore) -> str:
    return f"runs/{store.root.name}"
