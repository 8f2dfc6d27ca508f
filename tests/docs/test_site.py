"""The built site: made without a warning, complete, and readable without a network."""

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from command_reference import leaves
from documented import PAGES, ROOT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]
LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}
"""Attributes whose address a browser loads by itself."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs/site", ".", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr
    assert done.returncode == 0
    return folder


class Loads(HTMLParser):
    """Collects the addresses that a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if values.get("rel") not in {"canonical", "next", "prev"}:
            self.found.append(values.get(LOADED.get(tag, "")) or "")


def test_every_page_is_in_the_site(site: Path) -> None:
    pages = [path.relative_to(ROOT).with_suffix(".html") for path in PAGES if path.name != "README.md"]
    assert [str(page) for page in pages if not (site / page).is_file()] == []


def test_the_command_reference_has_every_command(site: Path) -> None:
    text = (site / "docs/commands.html").read_text(encoding="utf-8")
    assert [path for path, _ in leaves() if f">{path}<" not in text] == []


def test_a_browser_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    reader = Loads()
    for page in pages:
        reader.feed(page.read_text(encoding="utf-8"))
    assert [address for address in reader.found if "//" in address] == []
    styles = [*site.rglob("*.css"), *site.rglob("*.js")]
    assert [file.name for file in styles if "url(http" in file.read_text(encoding="utf-8")] == []
    assert len(pages) > len(PAGES)
