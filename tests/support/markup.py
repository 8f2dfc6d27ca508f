"""The structure of a page: hostile text must not change it."""

from html.parser import HTMLParser

HOSTILE = (
    "</pre></script></title></svg>--><img src=x onerror=alert(1)><script>alert(2)</script>{{ 7*7 }}'\" onload=x &lt;"
)
"""Ends every element that it may be in, runs in each way that a browser knows, and is a template too."""
PLAIN = "word"


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, ...]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, *(name for name, _ in attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def structure(html: str) -> list[tuple[str, ...]]:
    """Return every element with the names of its attributes, in order."""
    reader = _Reader()
    reader.feed(html)
    return reader.found


def text(html: str) -> str:
    """Return the text of a page, data for scripts among it."""
    reader = _Reader()
    reader.feed(html)
    return reader.text
