"""One instance as several runs solved it, beside the gold patch: verdicts, failing tests and patches."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.viewer.compare import find_runs, short_names
from assay.viewer.expected import ExpectedTest
from assay.viewer.groups import find_groups
from assay.viewer.judgement import Judgement, load_judgement
from assay.viewer.page import Keys, PageKind
from assay.viewer.patches import FileBeside, ShownPatch, align_files, show_patch
from assay.viewer.runs import Viewer

COLUMNS = 6  # runs whose tests and patches have a column; the others are in the first table only
GOLD = "gold"


@dataclass(frozen=True, slots=True)
class SolvedBy:
    """A run's attempt at the instance; its name is that of the run without what all have in common."""

    name: str
    judgement: Judgement
    patch: ShownPatch
    same_as: str
    """An earlier run, or gold, whose patch is the same text; empty if there is none."""


@dataclass(frozen=True, slots=True)
class TestBeside:
    """A test that counts against a patch, as it ended in each run; None where it is not expected."""

    __test__ = False

    name: str
    results: tuple[ExpectedTest | None, ...]


@dataclass(frozen=True, slots=True)
class BesideView:
    """One instance in several runs."""

    attempts: tuple[SolvedBy, ...]
    first: tuple[SolvedBy, ...]
    """Attempts whose tests and patches are shown."""
    tests: tuple[TestBeside, ...]
    columns: tuple[str, ...]
    """Names of the patches that have a column, gold last; others of the first runs are the same as one of these."""
    files: tuple[FileBeside, ...]


def view(viewer: Viewer, keys: Keys) -> BesideView | None:
    """Return an instance in the runs of a comparison that judged it; None if that are fewer than two."""
    name = keys["instance"]
    found = [each for run in find_runs(viewer, keys["runs"]) if (each := load_judgement(run, name))]
    if len(found) < 2:
        return None
    gold = next((each.instance.gold_patch for each in found if each.instance), "")
    attempts = tuple(_make_attempts(found, gold))
    own = [(each.name, each.patch) for each in attempts[:COLUMNS] if not each.same_as and not each.patch.is_empty]
    own += [(GOLD, show_patch(gold))] if gold.strip() else []
    return BesideView(
        attempts=attempts,
        first=attempts[:COLUMNS],
        tests=tuple(_align_tests(found[:COLUMNS])),
        columns=tuple(each for each, _ in own),
        files=align_files([patch for _, patch in own]),
    )


def _make_attempts(found: Sequence[Judgement], gold: str) -> Iterator[SolvedBy]:
    known = {gold.strip(): GOLD} if gold.strip() else {}
    for name, each in zip(short_names([each.run.name for each in found]), found, strict=True):
        patch = each.patch.strip()
        yield SolvedBy(name, each, show_patch(each.patch), known.get(patch, "") if patch else "")
        known.setdefault(patch, name)


def _align_tests(found: Sequence[Judgement]) -> Iterator[TestBeside]:
    """Yield the tests that count against some patch; those against the most come first."""
    against = Counter(test.name for each in found for test in {test.name: test for test in each.failing}.values())
    known = [{test.name: test for group in each.groups for test in group.tests} for each in found]
    for name, _ in against.most_common():
        yield TestBeside(name, tuple(each.get(name) for each in known))


def pages(viewer: Viewer) -> Iterator[Keys]:
    for group, runs in find_groups(viewer).items():
        judges = Counter(name for run in runs for name in run.now().judged)
        yield from ({"runs": group, "instance": name} for name in sorted(judges) if judges[name] > 1)


PAGE = PageKind("beside", "compare/{runs}/{instance}.html", "beside.html", view, pages)
