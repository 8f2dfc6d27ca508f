"""The pages as files."""

import html
import re
from collections import Counter
from pathlib import Path

import pytest

from assay.harness.errors import UserError
from assay.viewer.export import write_pages
from assay.viewer.runs import Viewer
from planted import TEXT, find_left, has_counted_all, plant
from solved_run import MakeRun


def test_every_link_of_the_written_pages_leads_to_a_written_file(make_run: MakeRun, tmp_path: Path) -> None:
    write_pages(Viewer([make_run(), make_run("acme.other")]), tmp_path / "out")
    pages = sorted((tmp_path / "out").rglob("*.html"))
    assert len(pages) == 1 + 1 + 3 + 2 * (2 + 3)
    for page in pages:
        targets = re.findall(r'(?:href|src)="([^"#]+)', page.read_text())
        assert targets
        for target in targets:
            assert (page.parent / target).is_file(), (page, target)


def test_folder_of_an_earlier_report_is_written_again_and_any_other_refused(make_run: MakeRun, tmp_path: Path) -> None:
    viewer = Viewer([make_run()])
    write_pages(viewer, tmp_path / "out")
    write_pages(viewer, tmp_path / "out")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("mine")
    with pytest.raises(UserError, match="not empty"):
        write_pages(viewer, tmp_path / "mine")


def test_no_secret_is_on_a_page_or_beside_it(
    make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, taken = make_run(problem_statement=TEXT), Counter[str]()
    plant(monkeypatch)
    folder = run.root / "instances/acme__calc-1"
    (folder / "test_output.txt").write_text(TEXT)
    (folder / "patch.diff").write_text((folder / "patch.diff").read_text() + TEXT)
    write_pages(Viewer([run]), tmp_path / "out", taken=taken)
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file():
            shown = html.unescape(re.sub("<[^>]+>", "", path.read_text(errors="replace")))
            assert not find_left(shown.encode()), path
            assert not find_left(path.read_bytes()), path
    assert has_counted_all(taken, 3)
