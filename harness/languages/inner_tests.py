"""Tests inside of sources, as Rust has them: a source as a patch has it, with the tests of another version of it."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.harness.languages import Language, load_grammar
from assay.harness.languages.syntax import parse_tree

if TYPE_CHECKING:
    from tree_sitter import Node

COMMENTS = frozenset({"line_comment", "block_comment"})
Key = tuple[str, ...]
"""Names of the modules around a test, then its kind, and its name or else its text."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A test, or a module or anything else that only tests have, with what is written above it."""

    key: Key
    start: int
    end: int


def take_tests(language: Language, base: str, theirs: str, tested: str) -> str | None:
    """Return a source as a patch has it, with the tests that it has after the test patch.

    None if they cannot be parted: the test patch changes more of it than tests, or these have no place left.
    """
    product = [_cut(text, _find_parts(language, text)).split() for text in (base, tested)]
    return put_tests(language, theirs, tested) if product[0] == product[1] else None


def put_tests(language: Language, theirs: str, tested: str) -> str | None:
    """Return a source as a patch has it, with the tests of another version; None if they have no place left in it."""
    own = defaultdict[Key, list[str]](list)
    for part in _find_parts(language, tested):
        own[part.key].append(_get(tested, part))
    found, text = _find_parts(language, theirs), theirs.encode(errors="replace")
    for part in found:
        own.setdefault(part.key, [])
    new = [own[part.key].pop(0) if own[part.key] else "" for part in found]
    for part, put in reversed([*zip(found, new, strict=True)]):
        text = text[: part.start] + put.encode(errors="replace") + text[part.end :]
    left = {key: texts for key, texts in own.items() if texts}
    if any(len(key) > 2 for key in left):
        return None
    more = "".join(f"\n{each}\n" for texts in left.values() for each in texts)
    return text.decode(errors="replace") + more


def _get(text: str, part: _Part) -> str:
    return text.encode(errors="replace")[part.start : part.end].decode(errors="replace")


def _cut(text: str, parts: list[_Part]) -> str:
    content = text.encode(errors="replace")
    for part in reversed(parts):
        content = content[: part.start] + content[part.end :]
    return content.decode(errors="replace")


def _find_parts(language: Language, text: str) -> list[_Part]:
    root = parse_tree(text.encode(errors="replace"), load_grammar(language))
    return [*_walk(language, root, ())] if root else []


def _walk(language: Language, around: "Node", modules: Key) -> Iterator[_Part]:
    above = list["Node"]()
    for node in around.named_children:
        if node.type in language.SYNTAX.decorators | COMMENTS:
            above.append(node)
            continue
        signs = [each for each in above if each.type not in COMMENTS]
        first, above = (signs[0] if signs else node), []
        name = node.child_by_field_name("name")
        said = _read(name) if name else _read(node)
        if any(re.match(language.LINES.test_above, _read(each)) for each in signs):
            yield _Part((*modules, node.type, said), first.start_byte, node.end_byte)
        elif node.type in language.SYNTAX.scopes and (body := node.child_by_field_name("body")):
            yield from _walk(language, body, (*modules, said))


def _read(node: "Node") -> str:
    return (node.text or b"").decode(errors="replace")
