"""The test file in a model's answer: which of its code blocks it is. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from assay.harness import languages

LONGEST_FILE = 200_000
"""Characters of a test file; a longer one is none that a person would write."""

_OPENING = re.compile(r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)$")


@dataclass(frozen=True, slots=True)
class AnswerBlock:
    """A fenced block of an answer."""

    info: str
    """First word behind the opening fence, in lower case."""
    text: str


def find_test_file(answer: str, language: str) -> str:
    """Return the test file of an answer, with a newline at its end; empty if the answer holds none.

    Of several blocks it is the longest that holds tests of the language; of equally long ones the last. A block that is
    not closed (the answer was cut off) counts, and so does an answer without any block that is nothing but code.
    """
    blocks = list(find_blocks(answer))
    texts = [block.text for block in blocks if _may_be(block, language) and has_tests(block.text, language)]
    if not blocks and has_tests(answer, language) and not _looks_like_prose(answer):
        texts = [answer]
    best = max(reversed(texts), key=len, default="").strip("\n")
    return f"{best}\n" if best and len(best) <= LONGEST_FILE else ""


def has_tests(text: str, language: str) -> bool:
    """Say whether a text looks as if it held tests of a language."""
    return bool(text.strip()) and re.search(_test_sign(language), text, re.MULTILINE) is not None


def find_blocks(answer: str) -> Iterator[AnswerBlock]:
    """Yield the fenced blocks of an answer, without the indentation of their fences."""
    info, fence, indent = "", "", 0
    inside: list[str] | None = None
    for line in answer.replace("\r\n", "\n").split("\n"):
        if inside is None:
            opening = _OPENING.match(line)
            if opening:
                info, fence, indent = opening["info"], opening["fence"], len(opening["indent"])
                inside = []
        elif _closes(line, fence):
            yield _block(info, inside)
            inside = None
        else:
            inside.append(_without_indent(line, indent))
    if inside is not None:
        yield _block(info, inside)


def _block(info: str, lines: list[str]) -> AnswerBlock:
    return AnswerBlock(info.strip().partition(" ")[0].lower(), "\n".join(lines))


def _closes(line: str, fence: str) -> bool:
    mark = line.strip()
    return len(mark) >= len(fence) and set(mark) == {fence[0]}


def _without_indent(line: str, indent: int) -> str:
    return line[indent:] if not line[:indent].strip() else line.lstrip()


def _may_be(block: AnswerBlock, language: str) -> bool:
    """Leave out blocks that say they are something else: another language, a patch, a shell's."""
    return not block.info or block.info in _fences(language) or not re.fullmatch(r"[a-z+#]+\d?", block.info)


def _fences(language: str) -> frozenset[str]:
    """Return what models write behind the fence of a block in a language, or in one that is mixed with it."""
    known = languages.find_or_none(language)
    if known is None:
        return frozenset({language})
    kin = [each for each in languages.LANGUAGES.values() if each.DOCKERFILES == known.DOCKERFILES]
    suffixes = {suffix.removeprefix(".") for each in kin for suffix in each.SUFFIXES}
    return frozenset(suffixes.union(*({each.NAME, *each.ALIASES} for each in kin)))


def _test_sign(language: str) -> str:
    known = languages.find_or_none(language)
    return known.TEST_SIGN if known else ""  # the empty pattern is found in every text


def _looks_like_prose(text: str) -> bool:
    """Say whether a text begins like a sentence and not like code."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return re.match(r"[A-Z][a-z']*,? [a-z']+ [a-z']+", first) is not None
