"""Hostile text in every field, on every kind of page: nothing of it becomes markup."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest

import hostile_run
import hostile_solver
from assay.viewer.pages import KINDS, Pages
from assay.viewer.runs import Viewer

pytestmark = pytest.mark.slow

TAGS = set(
    re.findall(
        r"\w+",
        "html head meta title link script body a header nav button span div main h1 h2 h3 h4 h5 h6 p code pre table "
        "thead tbody tfoot tr th td dl dt dd kbd dialog form footer section details summary svg rect label input "
        "select option output noscript ul ol li blockquote strong em s hr br line path circle text g polyline polygon "
        "desc wbr figure figcaption caption mark small",
    )
)
"""What our own templates and Markdown make; the SVG of charts among them."""

FORBIDDEN = {"style", "srcdoc", "srcset", "action", "formaction", "background", "poster", "ping"}


class Checker(HTMLParser):
    """Collects what a page must not have."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []
        self.links: list[str] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag not in TAGS:
            self.wrong.append(f"<{tag}>")
        self.wrong += [f"{tag} {name}" for name in given if name.startswith("on") or name in FORBIDDEN]
        self.wrong += [f"{tag} src={given['src']}" for _ in [0] if "src" in given and not _is_ours(given["src"])]
        if tag == "script" and "src" not in given and given.get("type") != "application/json":
            self.wrong.append("inline script")
        if tag == "link" and not _is_ours(given["href"]):
            self.wrong.append(f"link {given['href']}")
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
            parts = urlsplit(given["href"])
            if parts.scheme and (parts.scheme not in {"http", "https"} or "noopener" not in given.get("rel", "")):
                self.wrong.append(f"a {given['href']}")

    def handle_data(self, data: str) -> None:
        self.words += data


def _is_ours(url: str) -> bool:
    return url.lstrip("./").startswith("assets/")


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Viewer:
    name, folder = "<img src=x onerror=window.hacked=0>", tmp_path_factory.mktemp("runs")
    judged, other = hostile_run.make(folder / f"{name}.evaluated"), hostile_run.make(folder / f"{name}{name}")
    hostile_solver.add_comparison(judged, "acme__calc-0")
    hostile_solver.add_cause(judged, "acme__calc-0")
    return Viewer([judged, other, hostile_solver.make(folder / name, "acme__calc-0")])


def pages_of(viewer: Viewer) -> Iterator[tuple[str, str]]:
    pages = Pages(viewer)
    for kind in KINDS:
        for keys in kind.pages(viewer):
            html = pages.html(kind, keys)
            assert html is not None
            yield kind.make_path(keys), html


def test_nothing_hostile_becomes_markup_on_any_page(viewer: Viewer) -> None:
    seen = 0
    for path, html in pages_of(viewer):
        checker = Checker()
        checker.feed(html)
        checker.close()
        assert not checker.wrong, (path, checker.wrong[:5])
        assert html.lower().count("<script") == html.lower().count("</script>"), path
        seen += 1
    assert seen >= 2 * (3 + 4) + 4 + 5


def test_no_invisible_character_is_left_on_any_page(viewer: Viewer) -> None:
    for path, html in pages_of(viewer):
        wrong = [
            hex(ord(each))
            for each in set(html)
            if (ord(each) < 32 and each not in "\t\n") or each in "\x7f\u2028\u2029\u202e"
        ]
        assert not wrong, (path, wrong)
        assert html.encode(), path


def test_hostile_text_is_shown_as_text(viewer: Viewer) -> None:
    pages = dict(pages_of(viewer))
    path = next(path for path in pages if path.endswith("evaluated/instances/acme__calc-1.html"))
    checker = Checker()
    checker.feed(pages[path])
    for words in (
        "<script>window.hacked=1</script>",
        "{{ 7*7 }}",
        "javascript:window.hacked=6",
        "\u27e8U+202E\u27e9",
        "\u2400",
    ):
        assert words in checker.words
    assert "\u241b" not in checker.words  # escapes of terminals are dropped, not drawn
    assert "https://good.example/" in checker.links
    assert "http://evil.example/x.png" in checker.links  # a picture is a link


def test_huge_log_is_cut_with_a_note_and_the_whole_is_linked(viewer: Viewer) -> None:
    _path, html = next(each for each in pages_of(viewer) if each[0].endswith("/instances/acme__calc-2.html"))
    assert re.search(r"[\d.]+ kB are left out here", html)
    assert '/raw/acme__calc-2/test_output.txt">Whole output</a>' in html


def test_no_page_is_much_larger_than_what_it_shows(viewer: Viewer) -> None:
    sizes = {path: len(html) for path, html in pages_of(viewer)}
    assert max(sizes.values()) < 3_000_000, sizes
