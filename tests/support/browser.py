"""A Chromium of the machine, driven by playwright, which downloads nothing here."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")
"""Programs that are one; scripts/ensure-browser.sh looks for the same."""
SCHEMES = ("light", "dark")
PATIENCE = 120_000
"""Milliseconds that a page may take on a busy machine."""


def find_browser() -> str | None:
    """Return the path of a Chromium; None if there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@contextmanager
def open_browser() -> "Iterator[Browser]":
    """Start the browser that scripts/ensure-browser.sh installs."""
    from playwright.sync_api import sync_playwright

    path = find_browser()
    assert path, "there is no chromium; run scripts/ensure-browser.sh"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


class Visit:
    """A page that keeps what Assay's pages never do: messages, errors, dialogs, requests to elsewhere."""

    def __init__(self, browser: "Browser", base: str, scheme: str = "light", width: int = 1280) -> None:
        self.base = base
        self.wrong: list[str] = []
        self.page: Page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})  # type: ignore[arg-type]
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", lambda message: self.wrong.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("dialog", self._dismiss)
        self.page.on("request", lambda request: self._check(request.url))

    def _dismiss(self, dialog: "Dialog") -> None:
        self.wrong.append("dialog")
        dialog.dismiss()

    def _check(self, url: str) -> None:
        if not url.startswith(self.base):
            self.wrong.append(f"request: {url}")

    def open(self, path: str) -> "Page":
        """Go to a page below the base, as a new document."""
        self.page.goto("about:blank")
        self.wrong = [each for each in self.wrong if each != "request: about:blank"]
        self.page.goto(f"{self.base}{path}")
        return self.page
