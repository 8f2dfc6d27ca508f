"""Comparisons with gold as pages."""

import time
from collections.abc import Mapping

import pytest

from assay.harness.domain import Divergence, GeneratorResult, PatchDiffFinding, PatchDiffResult, ProbeObservation
from assay.harness.runs.saved import SavedPatchDiff
from assay.harness.runs.store import RunStore
from assay.viewer.findings import MEANINGS, SHOWN, FindingView, side, view, view_all
from assay.viewer.pages import Pages
from assay.viewer.runs import Viewer
from markup import HOSTILE, PLAIN, structure, text
from solved_run import MakeRun

ID = "acme__calc-1"
KEYS = {"run": "acme.model", "instance": ID}
TEST = "def test_add():\n    assert add(1, 2) == 3\n"


def seen(text: str, kind: str = "value", type: str = "int") -> ProbeObservation:  # noqa: A002
    return ProbeObservation(kind=kind, type=type, text=text)


def difference(word: str = "word", reproduction: str = "test_1.py") -> Divergence:
    return Divergence(
        finding=PatchDiffFinding.UNFIXED_LIKE_BASE,
        generator=word,
        probe=word,
        target=word,
        mutated=True,
        base=seen(word, word, word),
        gold=seen("gold", word, word),
        candidate=seen(word, word, word),
        confirmed=20,
        reproduction=reproduction,
    )


def comparison(*divergences: Divergence, word: str = "word", instance_id: str = ID) -> SavedPatchDiff:
    finding = PatchDiffFinding.UNFIXED_LIKE_BASE if divergences else PatchDiffFinding.NOT_ASSESSED
    result = PatchDiffResult(
        instance_id=instance_id,
        model=word,
        finding=finding,
        divergences=divergences,
        generators=(GeneratorResult(name=word, probes=20, reached=10, divergences=1, note=word),),
        targets=(word,),
        seconds=61.0,
        error=word,
    )
    return SavedPatchDiff(key="0", comparison=result)


def shown(store: RunStore) -> FindingView:
    found = view(Viewer([store]), KEYS)
    assert found is not None
    return found


def test_every_finding_has_its_meaning() -> None:
    assert set(MEANINGS) == set(PatchDiffFinding)


def test_difference_is_shown_with_the_test_that_shows_it(make_run: MakeRun) -> None:
    store = make_run()
    store.save_patchdiff(comparison(difference(), difference(reproduction="")), {"test_1.py": TEST})
    first, second = shown(store).divergences
    assert (first.test, second.test, second.raw) == (TEST, "", "")
    html = Pages(Viewer([store])).find_html(f"acme.model/findings/{ID}.html") or ""
    assert "def test_add():\n    assert add(1, 2) == 3" in text(html)
    assert '<span class="k">def</span>' in html, "highlighted"
    page = Pages(Viewer([store])).find_html(f"acme.model/instances/{ID}.html") or ""
    assert f'href="../../acme.model/findings/{ID}.html"' in page
    assert 'href="../acme.model/findings.html"' in (Pages(Viewer([store])).find_html("acme.model/index.html") or "")


def test_regression_without_observations_is_shown(make_run: MakeRun) -> None:
    store = make_run()
    missing = seen("", "missing", "")
    found = difference().model_copy(
        update={"finding": PatchDiffFinding.REGRESSION, "base": missing, "gold": missing, "candidate": missing}
    )
    store.save_patchdiff(comparison(found), {})
    (each,) = shown(store).divergences
    assert [(side.kind, side.changed, side.differs) for side in each.sides] == [("missing", "", False)] * 3


def test_list_of_a_run_has_the_most_severe_first_and_its_figures(make_run: MakeRun) -> None:
    store = make_run()
    store.save_patchdiff(comparison(), {})
    store.save_patchdiff(comparison(difference(), instance_id="acme__calc-3"), {})
    found = view_all(Viewer([store]), {"run": "acme.model"})
    assert found is not None
    assert [(line.instance_id, line.reached) for line in found.lines] == [("acme__calc-3", 10), (ID, 10)]
    assert (found.figures.compared, found.figures.suspicious, found.figures.not_assessed) == (2, 1, 1)
    assert found.lines[0].notes == "word: word"
    html = Pages(Viewer([store])).find_html("acme.model/findings.html") or ""
    rate = found.figures.not_refuted_rate
    assert f"{100 * rate.low:.1f} to {100 * rate.high:.1f}" in text(html)


def test_run_without_a_comparison_has_no_page(make_run: MakeRun) -> None:
    viewer = Viewer([make_run()])
    assert view_all(viewer, {"run": "acme.model"}) is None
    assert view(viewer, KEYS) is None


@pytest.mark.parametrize("instance", ["..", "nobody", ""])
def test_comparison_outside_the_run_is_not_read(instance: str, make_run: MakeRun) -> None:
    assert view(Viewer([make_run()]), KEYS | {"instance": instance}) is None


def test_test_file_outside_its_folder_is_not_read(make_run: MakeRun) -> None:
    store = make_run()
    store.save_patchdiff(comparison(difference(reproduction="../verdict.json")), {})
    assert shown(store).divergences[0].test == ""


@pytest.mark.parametrize(
    ("gold", "patch", "marked"),
    [
        ("[1, 2, 3]", "[1, 4, 3]", ("[1, ", "4", ", 3]")),
        ("[1, 22, 3]", "[1, 23, 3]", ("[1, ", "23", ", 3]")),
        ("False", "True", ("", "True", "")),
        ("a, a, b", "a, b", ("a, ", "b", "")),
        ("a" * 100 + "b", "a" * 100 + "c", ("a" * 60, "a" * 40 + "c", "")),
        ("", "x", ("", "x", "")),
        ("same", "same", ("same", "", "")),
    ],
)
def test_part_that_differs_is_marked(gold: str, patch: str, marked: tuple[str, str, str]) -> None:
    found = side("this patch", seen(patch), seen(gold), seen(gold))
    assert (found.before, found.changed, found.after) == marked
    assert found.differs is (gold != patch)


def test_long_observations_are_cut_to_what_differs() -> None:
    found = side(
        "this patch", seen("a" * 10_000 + "X" * 10_000 + "b" * 10_000), seen("a" * 10_000 + "b" * 10_000), seen("")
    )
    assert len(found.before) + len(found.changed) + len(found.after) < 3000
    assert found.before.startswith("…a")
    assert "XX" in found.changed
    assert found.changed.endswith("…")


def test_many_differences_and_long_tests_are_cut(make_run: MakeRun) -> None:
    store = make_run()
    store.save_patchdiff(comparison(*[difference()] * 300), {"test_1.py": "x = 1\n" * 100_000})
    began = time.process_time()
    found = shown(store)
    assert (len(found.divergences), found.more) == (SHOWN, 250)
    assert all(each.is_cut for each in found.divergences)
    assert time.process_time() - began < 5


@pytest.mark.parametrize("path", [f"acme.model/findings/{ID}.html", "acme.model/findings.html"])
def test_hostile_text_of_a_comparison_changes_nothing_of_the_page(path: str, make_run: MakeRun) -> None:
    store = make_run()

    def page(word: str, files: Mapping[str, str]) -> str:
        store.save_patchdiff(comparison(difference(word), word=word), files)
        html = Pages(Viewer([store])).find_html(path)
        assert html is not None
        return html

    hostile = page(HOSTILE, {"test_1.py": HOSTILE})
    assert structure(hostile) == structure(page(PLAIN, {"test_1.py": HOSTILE}))
    assert HOSTILE in text(hostile)
    assert "img" not in {tag for tag, *_ in structure(hostile)}
