"""Every kind of page through the one registry."""

import pytest

from assay.viewer.pages import KINDS, Pages
from assay.viewer.runs import Viewer
from solved_run import MakeRun


def test_page_of_every_kind_is_found_at_its_own_path(make_run: MakeRun) -> None:
    viewer = Viewer([make_run()])
    pages = Pages(viewer)
    for kind in KINDS:
        for keys in kind.pages(viewer):
            assert kind.parse_path(kind.make_path(keys)) == keys
            assert pages.find_html(kind.make_path(keys)) == pages.html(kind, keys) is not None


@pytest.mark.parametrize(
    "path", ["nothing", "acme.model/instances/nobody.html", "acme.model/instances/..html", "x/y/z"]
)
def test_path_of_no_page_has_none(path: str, make_run: MakeRun) -> None:
    assert Pages(Viewer([make_run()])).find_html(path) is None


def test_run_name_with_any_character_gets_a_safe_key(make_run: MakeRun) -> None:
    stores = [make_run('<b>"x"'), make_run("_b__x_"), make_run("assets")]
    assert list(Viewer(stores).runs) == ["_b__x_", "_b__x_~2", "assets~2"]
