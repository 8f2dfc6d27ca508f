"""Pictures of the viewer's pages."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import picture_viewer  # noqa: E402


@pytest.mark.browser
def test_a_page_has_a_light_and_a_dark_picture(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<style>:root { color-scheme: light dark }</style><p>seen</p>")
    picture_viewer.take_pictures(page, tmp_path / "made" / "viewer")
    light, dark = (tmp_path / f"made/viewer-{scheme}.png" for scheme in ("light", "dark"))
    assert light.read_bytes()[:4] == dark.read_bytes()[:4] == b"\x89PNG"
    assert light.read_bytes() != dark.read_bytes()
