"""An instance's verdict in a run with what it rests on, for every page that shows one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.harness.domain import Evidence, Instance, Verdict
from assay.harness.grading.meanings import say_reason
from assay.viewer import raw
from assay.viewer.expected import ExpectedTest, TestGroup, group_tests
from assay.viewer.runs import ViewedRun
from assay.viewer.text import Excerpt, excerpt

PATCH_BYTES = 6 * 1024 * 1024  # more than the gate lets through
REPORTS = 100  # report files that are looked into


@dataclass(frozen=True, slots=True)
class Judgement:
    """One evaluated instance. The parts that a run's folder does not hold are None or empty."""

    run: ViewedRun
    id: str
    verdict: Verdict
    instance: Instance | None
    evidence: Evidence | None
    patch: str
    output: Excerpt | None
    groups: tuple[TestGroup, ...]
    """Empty if no test ran."""
    names: tuple[str, ...]
    """All files of the instance's folder."""

    @property
    def reason(self) -> str:
        return say_reason(self.verdict.reason)

    @property
    def failing(self) -> tuple[ExpectedTest, ...]:
        """The tests that count against the patch."""
        return tuple(test for group in self.groups for test in group.tests if test.mood == "bad")


def load_judgement(run: ViewedRun, name: str) -> Judgement | None:
    """Load an instance of a run; None if the run has no verdict on it."""
    entry = None if run.is_solve else run.now().entries.get(name)
    if entry is None or not entry.state:
        return None
    names = tuple(raw.names(run, name))
    saved = run.store.load_verdict(name) if "verdict.json" in names else None
    if saved is None:
        return None
    instance = run.store.load_instance(name) if "instance.json" in names else None
    evidence = run.store.load_evidence(name) if "evidence.json" in names else None
    output = _load_output(run, name)
    groups = group_tests(instance, evidence, saved.verdict, output, _load_reports(run, name, names))
    is_tested = evidence is None or evidence.report.tests or evidence.timings.test or saved.verdict.unfixed
    return Judgement(
        run=run,
        id=name,
        verdict=saved.verdict,
        instance=instance,
        evidence=evidence,
        patch=load_patch(run, name),
        output=output if output and output.size else None,
        groups=groups if is_tested else (),
        names=names,
    )


def load_patch(run: ViewedRun, name: str) -> str:
    return _load_text(run, name, "patch.diff")


def _load_text(run: ViewedRun, name: str, file: str) -> str:
    if (opened := raw.open_file(run, name, file)) is None:
        return ""
    with opened:
        return opened.read(PATCH_BYTES).decode(errors="replace")


def _load_output(run: ViewedRun, name: str) -> Excerpt | None:
    if (opened := raw.open_file(run, name, "test_output.txt")) is None:
        return None
    with opened:
        return excerpt(opened)


def _load_reports(run: ViewedRun, name: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the texts of report files, read when they are asked for."""
    for file in [file for file in names if file.startswith("reports/")][:REPORTS]:
        yield _load_text(run, name, file)
