"""Takes the pictures of the viewer in README: one page of `assay report html`, light and dark.

    assay demo && assay report html demo.gold demo.null -o build/report
    python scripts/picture_viewer.py build/report/demo.null/instances/pallets__flask-2.3.2.html docs/pictures/viewer

writes docs/pictures/viewer-light.png and docs/pictures/viewer-dark.png.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/support")]
from browser import find_browser  # noqa: E402

WIDTH, HEIGHT = 1200, 720  # pixels


def main() -> None:
    """Open the page in both schemes, and write a picture of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path, help="file of the page")
    parser.add_argument("pictures", type=Path, help="path of the pictures, without -light.png")
    given = parser.parse_args()
    take_pictures(given.page, given.pictures)


def take_pictures(page: Path, pictures: Path) -> None:
    """Write the upper part of a page, as a person sees it first."""
    from playwright.sync_api import sync_playwright

    path = find_browser() or sys.exit("there is no chromium; run scripts/ensure-browser.sh")
    pictures.parent.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            shown = browser.new_page(color_scheme=scheme, viewport={"width": WIDTH, "height": HEIGHT})
            shown.goto(page.resolve().as_uri())
            shown.screenshot(path=f"{pictures}-{scheme}.png")
        browser.close()


if __name__ == "__main__":
    main()
