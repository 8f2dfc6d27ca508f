"""The test file in a model's answer: which of its code blocks it is. Pure."""

import re

from assay.harness.fences import find_blocks
from assay.harness.languages import python

LONGEST_FILE = 200_000
"""Characters of a test file; a longer one is none that a person would write."""
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
