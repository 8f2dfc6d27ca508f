"""The pages of the documents as data: their blocks, their commands, the code in their sentences, and their links."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md")])
LANGUAGES = ("console", "python", "yaml", "toml", "json", "text")
"""What a block may be. ``text`` is what a program prints, a tree of files or a synopsis; nothing runs it."""
INSTALLS = "# pip install "
DIRECTIVE = re.compile(r"\{[a-z-]+\}")


@dataclass(frozen=True)
class Block:
    """A block of a page."""

    page: Path
    line: int
    language: str
    """Empty for an indented block, and for a fenced one that does not say."""
    text: str
    file: str = ""
    """Path of the file that the block shows, if the line before is nothing but that and a colon."""

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def needs(self) -> str:
        """Packages that a Python block asks for in its first line."""
        return self.text.partition("\n")[0].removeprefix(INSTALLS) if self.text.startswith(INSTALLS) else ""

    def commands(self) -> Iterator[tuple[int, str]]:
        """Yield each command of a console block with its line; a backslash at the end of a line continues it."""
        number, begun = self.line, ""
        for offset, line in enumerate(self.text.splitlines(), 1):
            begun, number = (begun + line, number) if begun else (line, self.line + offset)
            if begun.endswith("\\"):
                begun = begun[:-1]
                continue
            if shlex.split(begun, comments=True):
                yield number, begun
            begun = ""


@dataclass(frozen=True)
class Page:
    """One Markdown file."""

    path: Path
    blocks: tuple[Block, ...]
    codes: tuple[tuple[int, str], ...]
    """Code in sentences and tables, with its line."""
    links: tuple[tuple[int, str], ...]
    anchors: frozenset[str]
    text: str


@cache
def read(path: Path) -> Page:
    """Read a page."""
    text = path.read_text(encoding="utf-8")
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    blocks = [
        Block(path, _line(token), token.info.strip(), token.content, _file_before(tokens[:number]))
        for number, token in enumerate(tokens)
        if token.type in {"fence", "code_block"}
    ]
    inline = [(_line(token), child) for token in tokens for child in token.children or ()]
    return Page(
        path,
        tuple(block for block in blocks if not DIRECTIVE.match(block.language)),
        tuple((line, child.content) for line, child in inline if child.type == "code_inline"),
        tuple((line, str(child.attrs["href"])) for line, child in inline if child.type == "link_open"),
        frozenset(_anchors(tokens)),
        text,
    )


def _file_before(tokens: list[Token]) -> str:
    """Return the file that a paragraph such as ``mine/assay.yaml``: names; empty if it says anything else."""
    words = tokens[-2].children or () if len(tokens) > 1 and tokens[-1].type == "paragraph_close" else ()
    named = [word for word in words if word.type == "code_inline"]
    return named[0].content if len(words) == 2 and named and words[-1].content == ":" else ""


def _line(token: Token) -> int:
    return token.map[0] + 1 if token.map else 0


def _anchors(tokens: list[Token]) -> Iterator[str]:
    """Yield the anchor of each heading, as GitHub and the site make them."""
    seen: dict[str, int] = {}
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            plain = "".join(child.content for child in inline.children or ())
            slug = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
            yield f"{slug}-{seen[slug]}" if slug in seen else slug
            seen[slug] = seen.get(slug, 0) + 1


def broken_links(page: Page) -> Iterator[str]:
    """Yield each link of a page to a file or an anchor that is not there."""
    for line, target in page.links:
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.path.parent / name).resolve() if name else page.path
        if not file.is_relative_to(ROOT) or not file.exists():
            yield f"{page.path.name}:{line}: there is no {name}"
        elif anchor and anchor not in (read(file).anchors if file.suffix == ".md" else ()):
            yield f"{page.path.name}:{line}: {file.name} has no heading #{anchor}"
