"""``assay report metrics``: patches measured against the gold patches."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.cli import config, options
from assay.cli.loading import find_run
from assay.harness.errors import UserError

if TYPE_CHECKING:
    from assay.harness.domain import Instance
    from assay.harness.metrics.assessment import Means, PatchMeasures
    from assay.harness.metrics.retrieval import Scores, Texts
    from assay.instances.trees.sources import Sources


def metrics(
    run: options.RunName,
    mirror: options.Mirrors = None,
    runs_dir: options.RunsDir = options.RUNS_DIR,
    json: options.Json = False,
) -> None:
    """Measure the patches of a run against the gold patches: which files and functions they touch, and how alike.

    Precision, recall and F1 of the files and of the functions and classes (SWE-PolyBench's retrieval measures), and
    SWE-RL's similarity of the diffs; none of them says whether a patch is right. Resolved instances are also counted by
    category, by how much of the code the gold patch changes, by repository, by language and by the row's difficulty.
    After `assay report cause`, the share of a patch that is needed. Base trees are read from --mirror, from the cache,
    or fetched; without one, functions and classes are not measured. `assay view RUN` shows each patch beside gold.

    \b
    Examples:
      assay report metrics mine --mirror ~/mirrors
      assay report metrics mine --json
    """
    from assay.cli import console
    from assay.harness.domain import Outcome
    from assay.harness.grading.logs import LOG_ALONE
    from assay.harness.metrics.assessment import assess, means
    from assay.harness.names import count

    store, sources = find_run(run, runs_dir), config.sources(mirror)
    found, left_out = [], []
    for prediction in store.load_predictions():
        saved, instance = store.load_verdict(prediction.instance_id), store.load_instance(prediction.instance_id)
        if saved is None or instance is None or (LOG_ALONE in saved.verdict.flags and not prediction.patch):
            left_out.append(prediction.instance_id)
            continue
        resolved = saved.verdict.outcome is Outcome.RESOLVED
        cause = store.load_cause(prediction.instance_id)
        needed = cause.cause.needed_share if cause is not None and resolved else None
        texts = _texts(instance, sources)
        found.append(assess(instance, prediction.patch, texts, resolved=resolved, needed_share=needed))
    if left_out:
        console.say(f"{count(len(left_out), 'instance')} without a saved evaluation of a patch: {', '.join(left_out)}")
    if not found:
        raise UserError(f"{store.root} holds no evaluation to measure; run it first")
    summary = means(found)
    if json:
        console.print_json({"means": summary, "instances": found})
    else:
        _show_metrics(found, summary)


def _texts(instance: "Instance", sources: "Sources") -> "Texts":
    """Return a reader of the base tree's texts, which gives None for binary files."""
    from assay.instances.trees.sources import tree_ref

    def text(path: str) -> str | None:
        content = sources.read_file(tree_ref(instance), path)
        return None if content is None or b"\0" in content else content.decode(errors="replace")

    return text


def _show_metrics(found: "Sequence[PatchMeasures]", summary: "Means") -> None:
    from assay.cli import console
    from assay.harness.metrics.assessment import NO_TREE
    from assay.harness.names import count

    treeless = [each for each in found if each.retrieval.problem.startswith(NO_TREE)]
    columns = (
        "instance",
        "resolved",
        "files P/R/F1",
        "functions P/R/F1",
        "similarity",
        "needed",
        "category",
        "gold changes",
        "note",
    )
    console.print_rows(
        columns,
        [
            (
                each.instance_id,
                "yes" if each.resolved else "no",
                _scores(each.retrieval.files),
                _scores(each.retrieval.nodes),
                "-" if each.similarity.score is None else f"{each.similarity.score:.2f}",
                "-" if each.needed_share is None else f"{each.needed_share:.0%}",
                each.category.name,
                str(each.complexity or "-"),
                "no base tree" if each in treeless else each.retrieval.problem or each.similarity.problem,
            )
            for each in found
        ],
    )
    if treeless:
        first = treeless[0]
        console.say(f"{count(len(treeless), 'instance')} without a base tree: {first.retrieval.problem}")
    print(f"files P/R/F1      {_scores(summary.files)} (mean of {summary.files_scored})")
    print(f"functions P/R/F1  {_scores(summary.nodes)} (mean of {summary.nodes_scored})")
    similarity = "-" if summary.similarity is None else f"{summary.similarity:.2f}"
    print(f"similarity        {similarity} (mean of {summary.similarity_scored})")
    if (parts := summary.similarity_separates) is not None:
        print(f"                  {parts.resolved:.2f} of the resolved, {parts.unresolved:.2f} of the others")
        area = f"{parts.area.estimate:.0%} of pairs ({console.format_range(parts.area)})"
        print(f"                  the resolved patch is the closer one in {area}")
    needed = "-" if summary.needed_share is None else f"{summary.needed_share:.0%}"
    print(f"needed            {needed} (mean of {summary.needed_share_scored})")
    for title, shares in (
        ("category", summary.by_category),
        ("gold changes", summary.by_complexity),
        ("repository", summary.by_repository),
        ("language", summary.by_language),
        ("difficulty", summary.by_difficulty),
    ):
        counts = ", ".join(f"{name} {share.resolved}/{share.instances}" for name, share in shares.items())
        print(f"resolved by {title}: {counts}")


def _scores(found: "Scores | None") -> str:
    return "-" if found is None else f"{found.precision:.2f}/{found.recall:.2f}/{found.f1:.2f}"
