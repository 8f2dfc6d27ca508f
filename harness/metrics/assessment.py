"""All measures of a run's patches against the gold patches: of each patch, and as means."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from math import sqrt
from statistics import NormalDist, fmean

from assay.harness.domain import Instance, Model
from assay.harness.errors import EnvironmentFailure
from assay.harness.metrics.category import Category, Complexity, category, complexity, read_column
from assay.harness.metrics.placing import parse_patch
from assay.harness.metrics.retrieval import Retrieval, Scores, Texts, find_touched_nodes, retrieval
from assay.harness.metrics.similarity import Similarity, patch_similarity
from assay.harness.patches.diff import MalformedPatchError
from assay.harness.statistics import CONFIDENCE, Interval

NO_TREE = "the base tree cannot be had"


class PatchMeasures(Model):
    """Measures of one patch against the gold patch, beside the verdict."""

    instance_id: str
    repo: str
    language: str
    difficulty: str
    """The row's own word, such as Verified's; empty if it has none."""
    resolved: bool
    category: Category
    complexity: Complexity | None
    """Complexity of the gold patch; None if the base tree or the patch cannot be read."""
    retrieval: Retrieval
    similarity: Similarity
    needed_share: float | None = None
    """Lines of the patch's cause by lines of the patch; None if no cause was looked for."""


class Share(Model):
    """Resolved instances of a group."""

    resolved: int
    instances: int


class Separation(Model):
    """How well a score separates resolved patches from the others.

    The area under the ROC curve is the share of pairs of both kinds in which the resolved patch has the higher score,
    ties counted half; its interval is of Hanley and McNeil (1982).
    """

    resolved: float
    """Mean of the resolved."""
    unresolved: float
    area: Interval


class Means(Model):
    """Means over the scored patches; their number can differ between measures."""

    files: Scores | None
    files_scored: int
    nodes: Scores | None
    nodes_scored: int
    similarity: float | None
    similarity_scored: int
    similarity_separates: Separation | None
    """None where all scored patches are resolved, or none is."""
    needed_share: float | None
    needed_share_scored: int
    by_category: dict[str, Share]
    by_complexity: dict[str, Share]
    by_repository: dict[str, Share]
    by_language: dict[str, Share]
    by_difficulty: dict[str, Share]


def assess(
    instance: Instance, patch: str, texts: Texts, *, resolved: bool, needed_share: float | None = None
) -> PatchMeasures:
    """Measure one patch; raises UserError for an unknown language.

    ``texts`` returns texts of the base tree. If it raises EnvironmentFailure, measures that need the tree are left
    out.
    """
    known: Callable[[str], str | None] = cache(texts)
    try:
        found = retrieval(instance.gold_patch, patch, known, instance.language)
        how_much = _complexity(instance, known)
    except EnvironmentFailure as error:
        found = retrieval(instance.gold_patch, patch, None, instance.language)
        found = found.model_copy(update={"problem": f"{NO_TREE}: {error}"})
        how_much = None
    return PatchMeasures(
        instance_id=instance.id,
        repo=instance.repo,
        language=instance.language,
        difficulty=read_column(instance, "difficulty"),
        resolved=resolved,
        category=category(instance),
        complexity=how_much,
        retrieval=found,
        similarity=patch_similarity(instance.gold_patch, patch),
        needed_share=needed_share,
    )


def means(assessments: Sequence[PatchMeasures]) -> Means:
    """Return the means of a run; every instance has the same weight, whatever the size of its patch."""
    files = [each.retrieval.files for each in assessments if each.retrieval.files]
    nodes = [each.retrieval.nodes for each in assessments if each.retrieval.nodes]
    needed = [each.needed_share for each in assessments if each.needed_share is not None]
    alike = [each.similarity.score for each in assessments if each.similarity.score is not None]
    return Means(
        files=_mean(files),
        files_scored=len(files),
        nodes=_mean(nodes),
        nodes_scored=len(nodes),
        similarity=fmean(alike) if alike else None,
        similarity_scored=len(alike),
        similarity_separates=_separate((each.similarity.score, each.resolved) for each in assessments),
        needed_share=fmean(needed) if needed else None,
        needed_share_scored=len(needed),
        by_category=_shares((each.category.name, each.resolved) for each in assessments),
        by_complexity=_shares((str(each.complexity or "not known"), each.resolved) for each in assessments),
        by_repository=_shares((each.repo, each.resolved) for each in assessments),
        by_language=_shares((each.language, each.resolved) for each in assessments),
        by_difficulty=_shares((each.difficulty or "not known", each.resolved) for each in assessments),
    )


def _complexity(instance: Instance, texts: Texts) -> Complexity | None:
    try:
        return complexity(find_touched_nodes(parse_patch(instance.gold_patch), texts, instance.language))
    except MalformedPatchError:
        return None


def _mean(found: Sequence[Scores]) -> Scores | None:
    if not found:
        return None
    return Scores(
        precision=fmean(each.precision for each in found),
        recall=fmean(each.recall for each in found),
        f1=fmean(each.f1 for each in found),
    )


def _separate(scored: Iterable[tuple[float | None, bool]]) -> Separation | None:
    parts: dict[bool, list[float]] = {True: [], False: []}
    for score, resolved in scored:
        if score is not None:
            parts[resolved].append(score)
    right, wrong = parts[True], parts[False]
    if not (right and wrong):
        return None
    area = fmean((one > other) + (one == other) / 2 for one in right for other in wrong)
    of_right, of_wrong = area / (2 - area) - area**2, 2 * area**2 / (1 + area) - area**2
    variance = area * (1 - area) + (len(right) - 1) * of_right + (len(wrong) - 1) * of_wrong
    half = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * sqrt(variance / (len(right) * len(wrong)))
    interval = Interval(estimate=area, low=max(0.0, area - half), high=min(1.0, area + half))
    return Separation(resolved=fmean(right), unresolved=fmean(wrong), area=interval)


def _shares(groups: Iterable[tuple[str, bool]]) -> dict[str, Share]:
    found: dict[str, list[bool]] = defaultdict(list)
    for name, resolved in groups:
        found[name].append(resolved)
    return {name: Share(resolved=sum(each), instances=len(each)) for name, each in sorted(found.items())}
