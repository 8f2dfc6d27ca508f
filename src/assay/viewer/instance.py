"""One instance of a run: the issue, the patch beside the gold patch, the tests and what they printed."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.harness.domain import Cause, Evidence, Instance, PatchDiffFinding, Timings, Verdict
from assay.harness.files import default_cache
from assay.harness.grading.meanings import OUTCOMES, get_meaning, say_reason
from assay.viewer import raw
from assay.viewer.expected import TestGroup, group_tests
from assay.viewer.files import read_inside
from assay.viewer.findings import load_comparison
from assay.viewer.layers import ShownLayer, find_layers
from assay.viewer.markdown import markdown
from assay.viewer.page import Keys, PageKind
from assay.viewer.patches import FilePair, ShownPatch, pair_files, show_patch
from assay.viewer.runs import ViewedRun, Viewer
from assay.viewer.solved import find_solver
from assay.viewer.text import Excerpt, excerpt
from assay.viewer.trajectories import FILE

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class ShownTrajectory:
    """A trajectory that has a page."""

    run: str
    sample: str


@dataclass(frozen=True, slots=True)
class Related:
    """Everything else about one evaluation."""

    finding: PatchDiffFinding | None
    """The result of the comparison with gold; None if there is none."""
    differences: int
    trajectory: ShownTrajectory | None


def find_related(viewer: Viewer, run: ViewedRun, instance_id: str) -> Related:
    """Find an instance's comparison and trajectory in a run, and in the solver's run behind it."""
    saved = load_comparison(run, instance_id)
    comparison = saved.comparison if saved else None
    return Related(
        finding=comparison.finding if comparison else None,
        differences=len(comparison.divergences) if comparison else 0,
        trajectory=next(_trajectories(viewer, run, instance_id), None),
    )


def _trajectories(viewer: Viewer, run: ViewedRun, instance_id: str) -> Iterator[ShownTrajectory]:
    solver = find_solver(viewer, run)
    if solver is not None:
        sample = str(solver.sample)
        if read_inside(solver.run.store.root, ("instances", instance_id, sample, FILE), 0) is not None:
            yield ShownTrajectory(solver.run.key, sample)


PATCH_BYTES = 6 * 1024 * 1024  # more than the gate lets through
RAW_SHOWN = 100
CAUSE = "cause/cause.json"
STEPS = {
    "create": "create the container",
    "start": "start it",
    "deliver": "deliver tests and patch",
    "apply": "apply the patch",
    "test": "run the tests",
    "collect": "collect reports",
    "remove": "remove the container",
}
"""The steps of an evaluation that ``Timings`` has, in their order."""


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag of a verdict and its meaning, which is empty for an unknown one."""

    name: str
    meaning: str


@dataclass(frozen=True, slots=True)
class TimedStep:
    """A step, its seconds, and its share of the longest step in percent."""

    name: str
    seconds: float
    share: float


@dataclass(frozen=True, slots=True)
class RawFile:
    """A file of the instance's folder."""

    name: str
    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Patches:
    """The patch beside the gold patch."""

    model: ShownPatch
    gold: ShownPatch
    pairs: tuple[FilePair, ...]
    tests: ShownPatch
    is_gold: bool
    """Both are the same text."""


@dataclass(frozen=True, slots=True)
class ShownCause:
    """The smallest part of the patch that resolves, as far as it was looked for."""

    cause: Cause
    patch: ShownPatch


@dataclass(frozen=True, slots=True)
class InstanceView:
    """One evaluated instance. The parts that a run's folder does not hold are None or empty."""

    run: ViewedRun
    id: str
    verdict: Verdict
    meaning: str
    reason: str
    instance: Instance | None
    statement: "Markup | None"
    evidence: Evidence | None
    patches: Patches
    cause: ShownCause | None
    groups: tuple[TestGroup, ...]
    output: Excerpt | None
    flags: tuple[Flag, ...]
    steps: tuple[TimedStep, ...]
    facts: tuple[tuple[str, str], ...]
    layers: tuple[ShownLayer, ...]
    """The images that the tests ran in, from the top; empty if this machine has not built them."""
    files: tuple[RawFile, ...]
    more_files: int
    previous: str
    """Id of the instance before this one that has a verdict; empty for none."""
    next: str
    raw: dict[str, str]
    """Paths of the files that the page links to, by name."""
    related: Related


def view(viewer: Viewer, keys: Keys) -> InstanceView | None:
    """Return one instance; None if the run has no verdict on it."""
    run, name = viewer.run(keys["run"]), keys["instance"]
    entries = run.now().entries if run is not None and not run.is_solve else {}
    if run is None or name not in entries or not entries[name].state:
        return None
    files = [*raw.names(run, name)]
    saved = run.store.load_verdict(name) if "verdict.json" in files else None
    if saved is None:
        return None
    instance = run.store.load_instance(name) if "instance.json" in files else None
    evidence = run.store.load_evidence(name) if "evidence.json" in files else None
    saved_cause = run.store.load_cause(name) if CAUSE in files else None
    output = _output(run, name)
    listed = tuple(_raw_files(run, name, files[:RAW_SHOWN]))
    before, after = _neighbours(run.now().judged, name)
    return InstanceView(
        run=run,
        id=name,
        verdict=saved.verdict,
        meaning=OUTCOMES[saved.verdict.outcome],
        reason=say_reason(saved.verdict.reason),
        instance=instance,
        statement=markdown(instance.problem_statement) if instance else None,
        evidence=evidence,
        patches=_patches(_text(run, name, "patch.diff"), instance),
        cause=ShownCause(saved_cause.cause, show_patch(saved_cause.cause.patch)) if saved_cause else None,
        groups=group_tests(instance, evidence, saved.verdict, output, _reports(run, name, files)),
        output=output,
        flags=tuple(Flag(flag, get_meaning(flag)) for flag in saved.verdict.flags),
        steps=tuple(_steps(evidence.timings)) if evidence else (),
        facts=tuple(_facts(run, instance, evidence)),
        layers=find_layers(evidence.image, default_cache()) if evidence else (),
        files=listed,
        more_files=len(files) - len(listed),
        previous=before,
        next=after,
        raw={file.name: file.path for file in listed},
        related=find_related(viewer, run, name),
    )


def _neighbours(ids: Sequence[str], name: str) -> tuple[str, str]:
    at = bisect_left(ids, name)
    return ids[at - 1] if at else "", ids[at + 1] if at + 1 < len(ids) else ""


def _patches(text: str, instance: Instance | None) -> Patches:
    gold_text = instance.gold_patch if instance else ""
    model, gold = show_patch(text), show_patch(gold_text)
    return Patches(
        model=model,
        gold=gold,
        pairs=pair_files(model, gold),
        tests=show_patch(instance.test_patch if instance else ""),
        is_gold=bool(text.strip()) and text.strip() == gold_text.strip(),
    )


def _text(run: ViewedRun, name: str, file: str) -> str:
    if (opened := raw.open_file(run, name, file)) is None:
        return ""
    with opened:
        return opened.read(PATCH_BYTES).decode(errors="replace")


def _output(run: ViewedRun, name: str) -> Excerpt | None:
    if (opened := raw.open_file(run, name, "test_output.txt")) is None:
        return None
    with opened:
        return excerpt(opened)


def _reports(run: ViewedRun, name: str, files: Sequence[str]) -> Iterator[str]:
    """Yield the texts of report files, read when they are asked for."""
    for file in [file for file in files if file.startswith("reports/")][:RAW_SHOWN]:
        yield _text(run, name, file)


def _steps(timings: Timings) -> Iterator[TimedStep]:
    seconds = {step: float(getattr(timings, step)) for step in STEPS}
    longest = max(seconds.values()) or 1.0
    yield from (TimedStep(words, seconds[step], 100 * seconds[step] / longest) for step, words in STEPS.items())


def _facts(run: ViewedRun, instance: Instance | None, evidence: Evidence | None) -> Iterator[tuple[str, str]]:
    if instance is not None:
        yield "repository", instance.repo
        yield "base commit", instance.base_commit
        yield "version", instance.version
        yield "language", instance.language
        yield "rule", instance.rule
        yield "data set", f"{instance.dataset.name} {instance.dataset.revision}".strip()
    if evidence is not None:
        yield "environment", evidence.environment or ""
        yield "image", evidence.image
        yield "image digest", evidence.image_digest
        yield "engine", evidence.engine
        yield "tests' user", evidence.user
        yield "exit status", "" if evidence.exit_code is None else str(evidence.exit_code)
        yield "results from", f"{evidence.report.channel} ({evidence.report.format})".removesuffix(" ()")
    yield "Assay", run.now().about.assay_version


def _raw_files(run: ViewedRun, name: str, files: Sequence[str]) -> Iterator[RawFile]:
    for file in files:
        if (opened := raw.open_file(run, name, file)) is not None:
            with opened:
                yield RawFile(file, raw.make_path(run.key, name, file), opened.seek(0, 2))


def pages(viewer: Viewer) -> Iterator[Keys]:
    for key, run in viewer.evaluations().items():
        yield from ({"run": key, "instance": each.id} for each in run.now().entries.values() if each.state)


PAGE = PageKind("instance", "{run}/instances/{instance}.html", "instance.html", view, pages)
