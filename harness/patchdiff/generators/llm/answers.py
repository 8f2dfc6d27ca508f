"""The test file in a model's answer: which of its code blocks it is. Pure."""

import re
from collections.abc import Iterator

from assay.harness.languages import python

LONGEST_FILE = 200_000
"""Characters of a test file; a longer one is none that a person would write."""
_BLOCK = re.compile(
    r"^(?P<indent>[ \t]*)(?P<fence>(?P<mark>[`~])(?P=mark){2,})[ \t]*(?P<info>[^`\n]*)\n"
    r"(?P<text>.*?)(?:^[ \t]*(?P=fence)(?P=mark)*[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_SOMETHING_ELSE = re.compile(r"(?!py(?:thon)?3?$)[a-z+#]+\d?")
"""First word behind the fence of a block that says that it is another language, a patch, a shell's."""
_PROSE = re.compile(r"\s*[A-Z][a-z']*,? [a-z']+ [a-z']+")
_TEST = re.compile(python.TEST_SIGN, re.MULTILINE)


def find_test_file(answer: str) -> str:
    """Return the Python test file of an answer, with a newline at its end; empty if the answer holds none.

    Of several blocks it is the longest that holds tests; of equally long ones the last. A block that is not closed (the
    answer was cut off) counts, and so does an answer without any block that is nothing but code.
    """
    blocks = list(find_blocks(answer))
    texts = [text for info, text in blocks if not _SOMETHING_ELSE.fullmatch(info)]
    if not blocks and not _PROSE.match(answer):
        texts = [answer]
    best = max(filter(_TEST.search, reversed(texts)), key=len, default="").strip("\n")
    return f"{best}\n" if best and len(best) <= LONGEST_FILE else ""


def find_blocks(answer: str) -> Iterator[tuple[str, str]]:
    """Yield of each block the first word behind its fence, in lower case, and the text without its indentation."""
    for block in _BLOCK.finditer(answer.replace("\r\n", "\n") + "\n"):
        indent = rf"^[ \t]{{0,{len(block['indent'])}}}"
        yield block["info"].strip().partition(" ")[0].lower(), re.sub(indent, "", block["text"], flags=re.MULTILINE)
