"""Copies of tests at the end of their file, for languages whose tests are functions of a whole package or program."""

import re
from collections.abc import Callable, Sequence

from assay.harness.domain import Siblings
from assay.harness.runners.base import DoubledFile


def append_copies(
    files: Sequence[DoubledFile], signature: str, name: str, change: Callable[[str, re.Match[str]], str]
) -> Siblings:
    """Return files with copies of functions behind all of their lines.

    Args:
        signature: begins a function that can be copied; its first group is the name.
        name: what copies are called; ``NUMBER`` stands for a number.
        change: returns the source of a copy that is renamed already; the match is that of its original.
    """
    texts, names, words = dict[str, str](), dict[str, str](), list[str]()
    for file in files:
        lines, copies = file.text.split("\n"), dict[int, tuple[str, str]]()
        for test in file.tests:
            source = "\n".join(lines[test.first - 1 : test.last])
            found = re.search(signature, source, re.MULTILINE)
            if found and test.first not in copies:
                words.append(name.replace("NUMBER", str(len(words))))
                copy = source[: found.start(1)] + words[-1] + source[found.end(1) :]
                copies[test.first] = words[-1], change(copy, found)
            if test.first in copies:
                names[test.label] = copies[test.first][0] + test.tail
        texts[file.path] = "\n".join([file.original, *(f"{copy}\n" for _, copy in copies.values())])
    return Siblings(files=texts, names=names, words=tuple(words))
