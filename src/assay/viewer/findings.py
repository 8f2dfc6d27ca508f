"""Comparisons with gold (PatchDiff): each difference, every side's observation, and the test that shows it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from assay.harness.domain import Divergence, PatchDiffFinding, PatchDiffResult, ProbeObservation
from assay.harness.runs.patchdiff_figures import PatchDiffFigures, patchdiff_figures
from assay.harness.runs.saved import SavedPatchDiff
from assay.viewer.charts import Picture
from assay.viewer.files import read_inside
from assay.viewer.index import get_stamp
from assay.viewer.page import Keys, PageKind
from assay.viewer.pictures import findings_picture
from assay.viewer.raw import make_path
from assay.viewer.runs import ViewedRun, Viewer

SHOWN = 50  # differences of a comparison that have their test on the page; the record has all
LONGEST = 60_000  # characters of a test that are shown
OBSERVED = 2000  # characters of the part of an observation that differs
AROUND = 150  # characters shown before and after that part
WORD = 40  # letters of a word that is marked whole
RECORD = "patchdiff/comparison.json"
_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
MEANINGS = {
    PatchDiffFinding.REGRESSION: "A developer test that passes with gold fails with this patch, every time: proof that "
    "the patch is wrong.",
    PatchDiffFinding.UNFIXED_LIKE_BASE: "Gold behaves differently from the base commit, and this patch does not: a "
    "strong suspicion that the issue is only partly fixed.",
    PatchDiffFinding.CHANGED_UNRELATED: "Gold behaves like the base commit, and this patch does not: a strong "
    "suspicion that it changes what it should leave alone.",
    PatchDiffFinding.DIVERGENT: "Base, gold and this patch all behave differently: undecided.",
    PatchDiffFinding.GOLD_REJECTS: "One side rejects a changed input as of the wrong type, the other takes it: "
    "undecided.",
    PatchDiffFinding.MORE_TOLERANT: "Base and gold raise the same error on a changed input, and this patch gives a "
    "value: no flag.",
    PatchDiffFinding.NO_DIFFERENCE_FOUND: "Enough probes reached the changed code on both sides, and none differs.",
    PatchDiffFinding.NOT_ASSESSED: "Too few probes reached the changed code, or the comparison failed: no sign of "
    "anything.",
}


@dataclass(frozen=True, slots=True)
class FindingLine:
    """One comparison in the list of a run."""

    instance_id: str
    comparison: PatchDiffResult

    @property
    def reached(self) -> int:
        return sum(each.reached for each in self.comparison.generators)

    @property
    def notes(self) -> str:
        """The reasons for which something was not done, or not wholly."""
        notes = [f"{each.name}: {each.note}" for each in self.comparison.generators if each.note]
        return "; ".join(notes) or self.comparison.error


@dataclass(frozen=True, slots=True)
class FindingsView:
    """Every comparison of a run, the most severe first."""

    run: ViewedRun
    figures: PatchDiffFigures
    lines: tuple[FindingLine, ...]
    pictures: tuple[Picture, ...]
    meanings: dict[PatchDiffFinding, str]


@dataclass(frozen=True, slots=True)
class ShownSide:
    """One side's observation: the part that differs from gold (or in which gold differs), with a little around it."""

    name: str
    kind: str
    before: str
    changed: str
    after: str
    differs: bool


@dataclass(frozen=True, slots=True)
class ShownDivergence:
    """One difference, with the test file that shows it."""

    number: int
    divergence: Divergence
    meaning: str
    sides: tuple[ShownSide, ...]
    test: str
    raw: str
    is_cut: bool


@dataclass(frozen=True, slots=True)
class FindingView:
    """The comparison of one instance."""

    run: ViewedRun
    instance_id: str
    line: FindingLine
    meaning: str
    raw: str
    divergences: tuple[ShownDivergence, ...]
    more: int
    """Differences that are only in the record."""


def load_findings(run: ViewedRun) -> list[FindingLine]:
    """Return the comparisons of a run, the most severe first."""
    found = (run.store.load_patchdiff(name) for name in _find_compared(run))
    order = list(PatchDiffFinding)
    lines = [FindingLine(each.comparison.instance_id, each.comparison) for each in found if each is not None]
    return sorted(lines, key=lambda line: (order.index(line.comparison.finding), line.instance_id))


def _find_compared(run: ViewedRun) -> Iterator[str]:
    for name, entry in run.now().entries.items():
        if entry.state and get_stamp(f"{run.store.root}/instances/{name}/{RECORD}"):
            yield name


def has_findings(run: ViewedRun) -> bool:
    return next(_find_compared(run), None) is not None


def view_all(viewer: Viewer, keys: Keys) -> FindingsView | None:
    """Return the comparisons of a run; None if nothing was compared."""
    run = viewer.run(keys["run"])
    lines = load_findings(run) if run is not None and not run.is_solve else []
    if run is None or not lines:
        return None
    picture = findings_picture(Counter(line.comparison.finding for line in lines))
    submitted = run.store.report().submitted_instances
    return FindingsView(
        run=run,
        figures=patchdiff_figures([line.comparison for line in lines], submitted),
        lines=tuple(lines),
        pictures=(picture,) if picture else (),
        meanings=MEANINGS,
    )


def view(viewer: Viewer, keys: Keys) -> FindingView | None:
    """Return the comparison of an instance; None if there is none."""
    run, name = viewer.run(keys["run"]), keys["instance"]
    saved = None if run is None or run.is_solve else load_comparison(run, name)
    if run is None or saved is None:
        return None
    divergences = saved.comparison.divergences
    return FindingView(
        run=run,
        instance_id=name,
        line=FindingLine(name, saved.comparison),
        meaning=MEANINGS[saved.comparison.finding],
        raw=make_path(run.key, name, RECORD),
        divergences=tuple(
            show_divergence(run, name, number, each) for number, each in enumerate(divergences[:SHOWN], 1)
        ),
        more=max(0, len(divergences) - SHOWN),
    )


def load_comparison(run: ViewedRun, instance_id: str) -> SavedPatchDiff | None:
    """Return the comparison of an instance; None if there is none."""
    record = read_inside(run.store.root, ("instances", instance_id, *RECORD.split("/")), 0)
    return None if record is None else run.store.load_patchdiff(instance_id)


def show_divergence(run: ViewedRun, instance_id: str, number: int, divergence: Divergence) -> ShownDivergence:
    name, gold, patch = divergence.reproduction, divergence.gold, divergence.candidate
    test = _test(run, instance_id, name)
    return ShownDivergence(
        number=number,
        divergence=divergence,
        meaning=MEANINGS[divergence.finding],
        sides=(
            side("base commit", divergence.base, gold if divergence.base.text != gold.text else patch, gold),
            side("gold patch", gold, patch, patch),
            side("this patch", patch, gold, gold),
        ),
        test=test[:LONGEST],
        raw=make_path(run.key, instance_id, f"patchdiff/{name}") if test else "",
        is_cut=len(test) > LONGEST,
    )


def side(name: str, seen: ProbeObservation, beside: ProbeObservation, judge: ProbeObservation) -> ShownSide:
    """Return a side's observation.

    Args:
        name: the side.
        seen: its observation.
        beside: the observation beside it; the part between their common begin and end is the middle one.
        judge: the observation that it has to equal.
    """
    begin = _count_alike(seen.text, beside.text)
    end = len(seen.text) - _count_alike(seen.text[begin:][::-1], beside.text[begin:][::-1])
    if seen.text != beside.text:
        begin -= _count_letters(seen.text[:begin][::-1])
        end += _count_letters(seen.text[end:])
    changed = seen.text[begin:end]
    return ShownSide(
        name=name,
        kind=f"{seen.kind} {seen.type}".strip(),
        before=_ELLIPSIS * (begin > AROUND) + seen.text[max(0, begin - AROUND) : begin],
        changed=changed if len(changed) <= OBSERVED else changed[:OBSERVED] + _ELLIPSIS,
        after=seen.text[end : end + AROUND] + _ELLIPSIS * (end + AROUND < len(seen.text)),
        differs=seen != judge,
    )


def _count_letters(text: str) -> int:
    """Count the letters and digits that a text begins with, up to the length of a word."""
    return next((at for at, each in enumerate(text[:WORD]) if not each.isalnum()), min(len(text), WORD))


def _count_alike(one: str, other: str) -> int:
    """Count the characters that two texts begin with alike."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _test(run: ViewedRun, instance_id: str, name: str) -> str:
    parts = ("instances", instance_id, "patchdiff", name)
    content = read_inside(run.store.root, parts, 4 * LONGEST + 1) if name else None
    return (content or b"").decode(errors="replace")


def pages_of_runs(viewer: Viewer) -> Iterator[Keys]:
    yield from ({"run": key} for key, run in viewer.evaluations().items() if has_findings(run))


def pages(viewer: Viewer) -> Iterator[Keys]:
    for key, run in viewer.evaluations().items():
        yield from ({"run": key, "instance": name} for name in _find_compared(run))


RUN_PAGE = PageKind("findings", "{run}/findings.html", "findings.html", view_all, pages_of_runs)
PAGE = PageKind("finding", "{run}/findings/{instance}.html", "finding.html", view, pages)
