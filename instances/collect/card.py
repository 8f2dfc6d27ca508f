"""The card of a collected data set: where it comes from, its figures and licenses. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from assay.harness.domain import Instance
from assay.harness.names import count
from assay.harness.patches.diff import read_diff
from assay.instances.collect.folder import CollectionSettings
from assay.instances.collect.funnel import FunnelPhase


def card(
    settings: CollectionSettings,
    funnel: Sequence[FunnelPhase],
    instances: Sequence[Instance],
    licenses: Sequence[str],
    times: int,
) -> str:
    """Return the card as Markdown, the same for the same collection.

    The licenses are of the instances, in their order; ``times`` is the number of runs of each control.
    """
    dates = f"from {settings.since or 'the first commit'} to {settings.until or 'the newest commit'}"
    phases = ((each.phase, str(each.taken), str(each.kept), each.why) for each in funnel)
    parts = [
        f"# {settings.name}",
        f"{count(len(instances), 'instance')}, collected by Assay from {', '.join(settings.repos)}, {dates}.",
        f"Each was validated {count(times, 'time')}: the gold patch resolves it in every run, and no patch in none.\n"
        "Labels are SWE-bench's: a test that fails without the gold patch and passes with it, or passes with and\n"
        "without it, in all runs. Tests on which the runs do not agree are in neither list.",
        _table(("repository", "license", "instances", "from", "to"), _repositories(instances, licenses)),
        _table(("of an instance", "least", "median", "most"), _figures(instances)),
        _table(("phase", "candidates", "kept", "fell out"), phases),
    ]
    return "\n\n".join(parts) + "\n"


def _repositories(instances: Sequence[Instance], licenses: Sequence[str]) -> Iterator[tuple[str, ...]]:
    of_each = Counter((each.repo, name) for each, name in zip(instances, licenses, strict=True))
    for (repo, name), number in sorted(of_each.items()):
        days = sorted(each.created_at.date() for each in instances if each.repo == repo)
        yield repo, name, str(number), str(days[0]), str(days[-1])


def _figures(instances: Sequence[Instance]) -> Iterator[tuple[str, ...]]:
    gold = [read_diff(each.gold_patch) for each in instances]
    lines = ([line for change in changes for hunk in change.hunks for line in hunk.lines] for changes in gold)
    figures = {
        "words of the statement": [len(each.problem_statement.split()) for each in instances],
        "files of the gold patch": [*map(len, gold)],
        "lines of the gold patch": [sum(line.mark in "+-" for line in each) for each in lines],
        "tests from fail to pass": [len(each.fail_to_pass) for each in instances],
        "tests from pass to pass": [len(each.pass_to_pass) for each in instances],
    }
    for what, numbers in figures.items():
        if numbers:
            yield what, str(min(numbers)), f"{median(numbers):g}", str(max(numbers))


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
