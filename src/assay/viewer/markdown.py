"""Markdown of issues: no HTML of its own, no pictures, links to http and https only."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from assay.viewer.highlight import highlight
from assay.viewer.text import cut_lines, readable

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from markupsafe import Markup

LONGEST = 100_000  # characters of a statement that are formatted


def markdown(text: str) -> "Markup":
    """Return Markdown as HTML; nothing in it can run or load anything."""
    from markupsafe import Markup

    shown = cut_lines(readable(text, LONGEST))
    more = f"\n\n*{len(text) - LONGEST:,} more characters*" if len(text) > LONGEST else ""
    return Markup(_parser().render(shown + more))


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "highlight": _fence, "maxNesting": 20})
    parser.enable(["table", "strikethrough"])
    parser.validateLink = is_web_link  # type: ignore[method-assign]
    parser.add_render_rule("image", _image)
    parser.add_render_rule("link_open", _link)
    for level in ("heading_open", "heading_close"):
        parser.add_render_rule(level, _heading)
    return parser


def is_web_link(url: str) -> bool:
    """Return whether a link leads to a web page, and not to a script, a file or an address on this page."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return False
    return parts.scheme.lower() in {"http", "https"} and bool(parts.netloc)


def _fence(code: str, language: str, _attributes: str) -> str:
    return str(highlight(code, lexer=language.lower()))


def _image(_self: object, tokens: Sequence["Token"], at: int, *_: Any) -> str:
    """Write a picture as a link to it."""
    from markupsafe import Markup

    source, words = str(tokens[at].attrGet("src") or ""), tokens[at].content or "picture"
    return str(Markup('<a href="{}" rel="noopener noreferrer" target="_blank">[picture: {}]</a>').format(source, words))


def _link(self: Any, tokens: Sequence["Token"], at: int, options: Any, env: Any) -> str:
    tokens[at].attrSet("rel", "noopener noreferrer")
    tokens[at].attrSet("target", "_blank")
    return str(self.renderToken(tokens, at, options, env))


def _heading(self: Any, tokens: Sequence["Token"], at: int, options: Any, env: Any) -> str:
    """Put headings below the page's own."""
    token = tokens[at]
    if token.tag in {"h1", "h2", "h3", "h4"}:
        token.tag = f"h{int(token.tag[1]) + 2}"
    return str(self.renderToken(tokens, at, options, env))
