"""Runs side by side, from folders that the real store wrote."""

import json
import re
import shutil
import time
from pathlib import Path
from random import Random

import pytest

from assay.harness.domain import DatasetRef, Outcome, Verdict
from assay.harness.metrics.comparison import InstanceResult, RunResults, compare, load_results
from assay.harness.runs.manifest import RunKind
from assay.harness.runs.store import RunStore
from assay.viewer import compare as compare_page
from assay.viewer.compare import CompareView, short_names, view
from assay.viewer.pages import Pages
from assay.viewer.runs import Viewer
from markup import HOSTILE, PLAIN, structure, text
from solved_run import MakeRun


def shown(viewer: Viewer, runs: str = "all") -> CompareView:
    found = view(viewer, {"runs": runs})
    assert found is not None
    return found


def said(viewer: Viewer) -> str:
    return " ".join(text(Pages(viewer).find_html("compare/all.html") or "").split())


def test_comparison_has_the_figures_of_the_command_line(judged: MakeRun) -> None:
    stores = [judged("a", "++++-+e"), judged("b", "-+-+-++")]
    found = shown(Viewer(stores))
    assert found.result == compare([load_results(store, store.root.name) for store in stores])
    assert found.wins == ((None, 2), (0, None))
    assert found.differing == 2
    assert found.left_out == (("env_error in a", ("acme__calc-6",)),)
    assert [row for row in found.rows if row[2] != row[3]] == [
        ("acme__calc-0", "acme/calc", "resolved", "unresolved"),
        ("acme__calc-2", "acme/calc", "resolved", "unresolved"),
    ]
    assert [(line.repo, line.instances, line.resolved) for line in found.repos] == [("acme/calc", 6, (5, 3))]
    assert [picture.name for picture in found.pictures] == ["overlap"], "no cost is known"


def test_run_that_has_gone_on_is_read_again(judged: MakeRun) -> None:
    stores = [judged("a", "++"), judged("b", "+-")]
    viewer = Viewer(stores)
    assert shown(viewer).differing == 1
    verdicts = [Verdict(instance_id=f"acme__calc-{number}", outcome=Outcome.RESOLVED) for number in (0, 1)]
    stores[1].save_report(stores[1].summarise(verdicts), verdicts)
    stores[1].journal("finished")
    assert shown(viewer).differing == 0


def test_many_repositories_get_fewer_resamples_and_the_page_says_so(
    judged: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    viewer = Viewer([judged("a", "++"), judged("b", "+-")])
    assert "resamples of whole repositories, seed 0. The same figures as assay report compare." in said(viewer)
    monkeypatch.setattr(compare_page, "DRAWS", 4000)
    assert "4,000 resamples" in said(viewer)
    assert "assay report compare --samples 4000." in said(viewer)
    monkeypatch.setattr(compare_page, "DRAWS", 1)
    assert "1,000 resamples" in said(viewer)


def test_comparison_of_four_runs_of_ten_thousand_is_quick() -> None:
    draw = Random(1)
    runs = [
        RunResults(
            f"run {number}",
            f"model {number}",
            DatasetRef(name="large"),
            {
                f"i{index}": InstanceResult(draw.choice((Outcome.RESOLVED, Outcome.UNRESOLVED)), f"repo {index % 30}")
                for index in range(10_000)
            },
        )
        for number in range(4)
    ]
    began = time.process_time()
    found = compare_page.compare_runs((), runs)
    assert time.process_time() - began < 20
    assert len(found.rows) == 10_000


def test_what_makes_runs_incomparable_is_shown(judged: MakeRun) -> None:
    stores = [judged(name, "+-") for name in "abc"]
    changes = ({"settings": {"strict": "yes", "jobs": "1"}}, {"settings": {"jobs": "1", "oracle": "gold_patch"}}, {})
    for store, change in zip(stores, changes, strict=True):
        about = store.load_run().model_copy(update=change)
        (store.root / "run.json").write_text(about.model_dump_json())
    about = stores[2].load_run().model_copy(update={"kind": RunKind.CONTROL, "assay_version": "9"})
    (stores[2].root / "run.json").write_text(about.model_dump_json())
    found = shown(Viewer(stores))
    assert found.marks == ("", "its solver was given parts of the answer: gold_patch", "a control")
    assert dict(found.made) == {"Assay": ("0", "0", "9"), "strict": ("yes", "", ""), "jobs": ("1", "1", "")}
    assert "made differently in 3 points" in said(Viewer(stores))


def test_any_runs_can_be_named(judged: MakeRun) -> None:
    viewer = Viewer([judged("a", "++"), judged("b", "+-"), judged("c", "+")])
    assert [run.name for run in shown(viewer, "a+c").runs] == ["a", "c"]


@pytest.mark.parametrize("runs", ["a", "a+a", "a+nobody", "nobody", "", "+", "all-7", "a+b+", "a+solver"])
def test_page_of_runs_that_are_none_or_not_several_is_missing(runs: str, judged: MakeRun) -> None:
    solver = judged("solver", "+")
    about = solver.load_run().model_copy(update={"kind": RunKind.SOLVE})
    (solver.root / "run.json").write_text(about.model_dump_json())
    assert view(Viewer([judged("a", "+"), judged("b", "+"), solver]), {"runs": runs}) is None


def test_runs_of_different_data_sets_show_why_they_are_not_compared(judged: MakeRun) -> None:
    viewer = Viewer([judged("a", "+"), judged("b", "+", dataset="verified")])
    assert "different data sets" in shown(viewer, "a+b").problem
    assert "different data sets" in text(Pages(viewer).find_html("compare/a+b.html") or "")


def test_runs_of_one_name_in_different_folders_are_told_apart(judged: MakeRun, tmp_path: Path) -> None:
    first = judged("a", "+-")
    shutil.copytree(first.root, tmp_path / "elsewhere/a")
    found = shown(Viewer([first, RunStore(tmp_path / "elsewhere/a")]))
    assert found.names == ("a", "a~2")


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["lite.gpt.evaluated", "lite.opus.evaluated"], ("gpt", "opus")),
        (["lite.a", "lite.a.b"], ("a", "a.b")),
        (["a", "b"], ("a", "b")),
        (["x.a.x", "x.b.x"], ("a", "b")),
        (["x.a"], ("x.a",)),
        (["lite.gpt.evaluated", "lite.gold"], ("gpt", "gold")),
        (["lite.gpt.evaluated", "lite.gpt"], ("gpt.evaluated", "gpt")),
        (["lite.gpt.evaluated"], ("lite.gpt",)),
        ([], ()),
    ],
)
def test_short_names_leave_out_what_all_have(names: list[str], short: tuple[str, ...]) -> None:
    assert short_names(names) == short
    assert len(set(short_names(names))) == len(names)


def test_hostile_text_of_a_run_changes_nothing_of_the_page(judged: MakeRun, tmp_path: Path) -> None:
    def page(word: str) -> str:
        name = word.replace("/", "_")
        shutil.rmtree(tmp_path / "runs", ignore_errors=True)
        stores = [
            judged(f"{number}{name}", letters, model=model, dataset=word, repo=word)
            for number, letters, model in ((1, "+-e", word), (2, "-++", word), (3, "-++", f"other {word}"))
        ]
        html = Pages(Viewer(stores)).find_html("compare/all.html")
        assert html is not None
        return html

    plain, hostile = page(PLAIN), page(HOSTILE)
    assert structure(hostile) == structure(plain)
    assert HOSTILE in text(hostile), "the name of the data set is shown as it is"
    data = re.search(r'<script type="application/json" id="matrix-data">(.*?)</script>', hostile, re.DOTALL)
    assert data is not None
    assert json.loads(data[1])["rows"][0][1] == HOSTILE
