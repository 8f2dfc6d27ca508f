"""The words of the house, in what people read: pages, help texts, docstrings and comments."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from itertools import chain

from command_reference import leaves
from documented import PAGES, ROOT

WORDS = {
    r"\b(tells?|told|telling)\b": "reports, says or shows",
    r"\b(mends?|mended|mending)\b": "fix",
    r"\b(lies|lie|lay|lying) (in|at|beside|below|under|on)\b": "is in",
    r"\bforeign(er)?\b": "external",
}
"""A pattern, and what to write in its place."""
IN_CODE = {
    r"\b(Return|Yield|Say|Print|Show)s? what\b": "the noun",
    r"\bof which\b": "a sentence of its own",
    r"\bso many\b": "a figure, or 'that number'",
    r"\bthose that\b": "the noun",
    r"\b(tells?|told|telling)\b": "reports, says or shows",
    r"\b(mends?|mended|mending)\b": "fix",
}
"""The same for docstrings and comments."""
FRAGMENT = re.compile(
    r"(Of|By|In|On|Beside|With|For|From|At|To|Without|Under|Over|Into|Behind|As|Among|Below|Above|Before|After|Until|Where|Whose)\b"
)
"""Begins a docstring that is no sentence and no noun."""
SOURCES = sorted(chain(*((ROOT / floor).rglob("*.py") for floor in ("harness", "instances", "agents", "scripts"))))
SOURCES += sorted(path for path in (ROOT / "src/assay").rglob("*.py") if path.resolve() == path)
SOURCES.remove(ROOT / "agents/solvers/shared/code_search.py")
"""Its docstrings are prompts, which stay as recordings have them."""
MOTTO = "An assay tells whether a metal is gold. Assay tells whether a patch really resolves an issue."


def unwanted(text: str) -> list[str]:
    """Return the words of a text that the house does not use, each with its replacement."""
    return [
        f"{match[0]!r}: write {instead}"
        for pattern, instead in WORDS.items()
        for match in re.finditer(pattern, text.replace(MOTTO, ""), re.IGNORECASE)
    ]


def test_pages_use_the_words_of_the_house() -> None:
    lines = (
        (f"{path.name}:{number}", line)
        for path in PAGES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    )
    assert [(place, found) for place, line in lines if (found := unwanted(line))] == []


def test_help_texts_use_the_words_of_the_house() -> None:
    texts = ((path, each.help or "") for path, leaf in leaves() for each in (leaf, *leaf.params))
    assert [(path, found) for path, text in texts if (found := unwanted(text))] == []


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of every string that is a statement; attributes have docstrings, too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


def comments(source: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def find_unwanted(source: str) -> Iterator[str]:
    for line, text in chain(docstrings(source), comments(source)):
        for pattern, instead in IN_CODE.items():
            yield from (f"{line}: {match[0]!r}: write {instead}" for match in re.finditer(pattern, text, re.IGNORECASE))
    for line, text in docstrings(source):
        if match := FRAGMENT.match(text):
            yield f"{line}: begins with {match[0]!r}: write a sentence or a noun"


def test_docstrings_and_comments_use_the_words_of_the_house() -> None:
    texts = ((path, path.read_text(encoding="utf-8")) for path in SOURCES)
    unwanted = [f"{path.relative_to(ROOT)}:{found}" for path, text in texts for found in find_unwanted(text)]
    assert not unwanted, "\n".join(unwanted)


def test_a_fragment_and_a_word_in_a_comment_are_found() -> None:
    source = 'x = 1  # told\n"""Of the instance."""\n'
    assert [*find_unwanted(source)] == [
        "1: 'told': write reports, says or shows",
        "2: begins with 'Of': write a sentence or a noun",
    ]


def test_a_word_that_the_house_does_not_use_is_found() -> None:
    assert unwanted("The report tells it.") == ["'tells': write reports, says or shows"]
    assert unwanted(f"{MOTTO} It lies in runs.") == ["'lies in': write is in"]
