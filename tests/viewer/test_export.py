"""The pages as files."""

import re
from pathlib import Path

import pytest

from assay.harness.errors import UserError
from assay.viewer.export import write_pages
from assay.viewer.runs import Viewer
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
