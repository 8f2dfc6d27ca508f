"""``assay diff``: the comparisons with gold, as a person sees them."""

from collections.abc import Sequence

from assay.cli import console
from assay.harness.domain import Divergence, GeneratorResult, PatchDiffFinding, PatchDiffResult
from assay.harness.names import count
from assay.harness.runs.patchdiff_figures import PatchDiffFigures
from assay.harness.runs.store import RunStore

SHOWN = 3  # divergences of a patch that are printed one by one
WIDTH = 100  # characters of an observation that are shown


def print_comparisons(store: RunStore, figures: PatchDiffFigures) -> None:
    """Print the comparisons of a run: a row for each, the first divergences, and the rates."""
    if not figures.compared:
        print("PatchDiff: nothing is resolved, so nothing was compared")
        return
    saved = [store.load_patchdiff(name) for name in figures.finding_of]
    comparisons = [each.comparison for each in saved if each is not None]
    columns = ("instance", "against gold", "targets", "test files", "probes that count", "divergences", "s", "note")
    console.print_rows(columns, [_row(each) for each in comparisons])
    for each in comparisons:
        for line in _lines(store, each):
            print(line)
    print(_summary(figures))


def _summary(figures: PatchDiffFigures) -> str:
    """Return the counts; of patches that could not be assessed, nothing is claimed."""
    if figures.suspicious is None:
        return f"PatchDiff: of {figures.compared} resolved, none could be assessed; the notes say why"
    assessed = figures.compared - figures.not_assessed
    regressions, rate = figures.compared - figures.not_refuted, figures.not_refuted_rate
    parts = [
        f"PatchDiff: of {figures.compared} resolved, {assessed} assessed: {regressions} with a regression, "
        f"{figures.suspicious} suspicious"
    ]
    if figures.not_assessed:
        parts.append(f"{figures.not_assessed} not assessed")
    if figures.null_divergences:
        parts.append(f"{count(figures.null_divergences, 'difference')} between gold and its copy")
    shown = f"{rate.estimate:.1%} ({console.format_range(rate)})"
    parts.append(f"resolved and not refuted: {figures.not_refuted} of {figures.submitted}, {shown}")
    return "; ".join(parts)


def _row(comparison: PatchDiffResult) -> tuple[str, ...]:
    def per_generator(results: Sequence[GeneratorResult], name: str) -> str:
        return ", ".join(f"{each.name} {getattr(each, name)}" for each in results)

    notes = "; ".join(f"{each.name}: {each.note}" for each in comparison.generators if each.note)
    return (
        comparison.instance_id,
        str(comparison.finding),
        str(len(comparison.targets)),
        _share_of_files(comparison),
        per_generator([each for each in comparison.generators if each.reached], "reached") or "0",
        per_generator([each for each in comparison.generators if each.divergences], "divergences") or "0",
        f"{comparison.seconds:.0f}",
        notes or comparison.error,
    )


def _share_of_files(comparison: PatchDiffResult) -> str:
    suites = [each for each in comparison.generators if each.of_test_files]
    return ", ".join(f"{each.test_files} of {each.of_test_files}" for each in suites) or "-"


def _lines(store: RunStore, comparison: PatchDiffResult) -> list[str]:
    lines = []
    for each in comparison.divergences[:SHOWN]:
        lines.append(f"  {comparison.instance_id}: {each.finding}, {each.generator}: {each.target or each.probe}")
        if each.finding is not PatchDiffFinding.REGRESSION:
            lines.append(f"    gold {_short(each, 'gold')}, this patch {_short(each, 'candidate')}")
        else:
            lines.append(f"    passes with gold, fails with this patch, {each.confirmed} times of {each.confirmed}")
        if each.reproduction:
            folder = store.root / "instances" / comparison.instance_id / "patchdiff"
            lines.append(f"    to see it: {folder / each.reproduction}")
    more = len(comparison.divergences) - SHOWN
    return [*lines, f"  {comparison.instance_id}: ... and {more} more"] if more > 0 else lines


def _short(divergence: Divergence, side: str) -> str:
    seen = getattr(divergence, side)
    if seen.kind != "value":
        return f"{seen.kind} {seen.type}".strip()
    text = f"{seen.type} {seen.text}"
    return text if len(text) <= WIDTH else f"{text[:WIDTH]}..."
