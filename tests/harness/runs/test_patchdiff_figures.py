from assay.harness.domain import GeneratorResult, PatchDiffFinding, PatchDiffResult
from assay.harness.runs.patchdiff_figures import patchdiff_figures
from assay.harness.statistics import wilson


def comparison(number: int, finding: PatchDiffFinding) -> PatchDiffResult:
    noisy = (GeneratorResult(name="replay", null_divergences=number),)
    return PatchDiffResult(instance_id=f"a__b-{number}", finding=finding, generators=noisy)


def test_rates_are_of_all_submitted_patches_and_kept_apart() -> None:
    findings = (
        PatchDiffFinding.REGRESSION,
        PatchDiffFinding.UNFIXED_LIKE_BASE,
        PatchDiffFinding.CHANGED_UNRELATED,
        PatchDiffFinding.DIVERGENT,
        PatchDiffFinding.NO_DIFFERENCE_FOUND,
        PatchDiffFinding.NOT_ASSESSED,
    )
    figures = patchdiff_figures([comparison(n, each) for n, each in enumerate(findings)], 12)
    assert (figures.compared, figures.resolved_rate) == (6, 0.5)
    assert (figures.not_refuted, figures.submitted) == (5, 12)
    assert figures.not_refuted_rate == wilson(5, 12)
    assert (figures.suspicious, figures.not_assessed) == (2, 1)
    assert figures.null_divergences == 15
    assert patchdiff_figures([], 0).resolved_rate == 0


def test_comparisons_that_could_not_be_made_are_no_sign_of_anything() -> None:
    figures = patchdiff_figures([comparison(1, PatchDiffFinding.NOT_ASSESSED)], 4)
    assert (figures.suspicious, figures.suspicious_rate) == (None, None)
    assert (figures.not_assessed, figures.not_assessed_rate) == (1, 0.25)
