"""A sealed run with a member of every kind, and ways to change one."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from assay.harness.bundles.signing import PrivateKey, Signers, new_private_key
from assay.harness.bundles.tar import END, header, read_members
from assay.harness.bundles.verify import Verification, verify
from assay.harness.domain import DatasetRef, GeneratorResult, Instance, PatchDiffFinding, PatchDiffResult, Prediction
from assay.harness.grading.stability import StabilityFile
from assay.harness.runs.patchdiff_figures import patchdiff_figures
from assay.harness.runs.saved import SavedPatchDiff
from assay.harness.runs.store import RunStore
from assay.jobs.bundle import seal_run
from assay.jobs.evaluate import EvaluationRun
from assay.jobs.workplace import Workplace
from toy import GOLD, TESTS

RUN = "mine"
WRONG = "diff --git a/calc.py b/calc.py\n--- a/calc.py\n+++ b/calc.py\n@@ -1,1 +1,1 @@\n-a\n+b\n"
Files = dict[str, bytes]


@dataclass(frozen=True)
class SealedRun:
    """A run, the key that sealed it, and the bundle."""

    store: RunStore
    key: PrivateKey
    path: Path

    @property
    def signers(self) -> Signers:
        return Signers({self.key.public: "me"}, "me.pub")

    def files(self) -> Files:
        with self.path.open("rb") as file:
            return {each.name: b"".join(each.chunks()) for each in read_members(file)}


def nothing_shown(_step: str, _done: int, _total: int) -> None:
    """Show no progress."""


def toy(number: int) -> Instance:
    return Instance(
        id=f"acme__calc-{number}",
        repo="acme/calc",
        base_commit="0" * 40,
        problem_statement="add subtracts",
        gold_patch=GOLD,
        test_patch=TESTS,
        fail_to_pass=("tests/test_calc.py::test_add",),
        pass_to_pass=("tests/test_calc.py::test_same",),
        created_at=datetime(2023, 1, 2, tzinfo=UTC),
        dataset=DatasetRef(name="rows", revision="r1"),
    )


def sealed_run(folder: Path) -> SealedRun:
    """Evaluate three instances with controls, a repetition and a comparison, and seal that."""
    found = [toy(number) for number in (1, 2, 3)]
    patches = (found[0].gold_patch, WRONG, "")
    pairs = [
        (each, Prediction(instance_id=each.id, model="m", patch=patch))
        for each, patch in zip(found, patches, strict=True)
    ]
    run = EvaluationRun(RUN, folder / "runs", Workplace(engine="fake"), controls=True, rerun_failed=1)
    report, verdicts = run.evaluate(pairs, [each.id for each in found])
    store = run.store
    store.save_stability(StabilityFile(dataset="rows"))
    compared = PatchDiffResult(
        instance_id=found[0].id,
        finding=PatchDiffFinding.NO_DIFFERENCE_FOUND,
        generators=(GeneratorResult(name="suites"),),
    )
    store.save_patchdiff(SavedPatchDiff(key="k", comparison=compared), {"test_suites.py": "assert True\n"})
    figures = patchdiff_figures([compared], len(verdicts))
    store.save_report(store.summarise(verdicts, unfit=report.unfit_reasons, patchdiff=figures), verdicts)
    hostile = store.root / f"instances/{found[0].id}/reports" / ("line\nend \\ %41 \udcff" + "n" * 100)
    hostile.write_text("a patch chose this name")
    key = new_private_key(folder / "key")
    seal_run(store, key, folder / "run.bundle", nothing_shown)
    return SealedRun(store, key, folder / "run.bundle")


def packed(files: Files) -> bytes:
    """Pack files as a bundle is packed, whatever they are."""
    return b"".join(member(name, content) for name, content in files.items()) + END


def member(name: str, content: bytes) -> bytes:
    return header(name, len(content)) + content + bytes(-len(content) % 512)


def verified(content: bytes, folder: Path, signers: Signers | None = None) -> Verification:
    """Verify an archive."""
    path, scratch = folder / "tried.bundle", folder / "scratch"
    path.write_bytes(content)
    scratch.mkdir()
    return verify(path, signers, scratch, nothing_shown)


def named(found: Verification) -> set[str]:
    """Return the files that problems name."""
    return {each.file for each in found.problems}
