"""Copies of Python's tests in files of their own, beside those of their originals, for pytest, unittest and SymPy."""

import re
from collections.abc import Callable, Sequence
from itertools import count

from assay.harness.domain import Siblings
from assay.harness.runners.base import DoubledFile, DoubledTest

Named = Sequence[tuple[DoubledTest, str]]
"""Tests, and what their copies are called."""
Finish = Callable[[str, str, Named], tuple[str, str]]
"""Takes the path and the text of a copied file, and its copies; gives the text to write, and a part of the argument."""
_BEGINNING = re.compile(r"test_?|[^\W_]+_|")
"""What stays of a name: runners choose tests by it."""


def place_files(files: Sequence[DoubledFile], finish: Finish) -> Siblings:
    """Return a copy of each file, in which the chosen tests have names of their own."""
    texts, names, words, argument, numbers = dict[str, str](), dict[str, str](), list[str](), "", count()
    for file in files:
        stem = f"test_@snake:{next(numbers)}@"
        lines, renamed = file.text.split("\n"), dict[int, str]()
        for test in file.tests:
            if test.first not in renamed:
                beginning = _BEGINNING.match(test.own_name)
                renamed[test.first] = f"{beginning[0] if beginning else ''}@snake:{next(numbers)}@"
                _rename(lines, test, renamed[test.first])
            names[test.label] = renamed[test.first] + test.tail
        path = f"{file.path.rpartition('/')[0]}/{stem}.py".lstrip("/")
        named = [(test, renamed[test.first]) for test in file.tests]
        texts[path], part = finish(path, "\n".join(lines), named)
        argument += part
        words += [stem, *renamed.values()]
    return Siblings(files=texts, names=names, words=tuple(words), argument=argument)


def _rename(lines: list[str], test: DoubledTest, name: str) -> None:
    for number in range(test.first - 1, test.last):
        lines[number], done = re.subn(
            rf"(\bdef\s+){re.escape(test.own_name)}\b", rf"\g<1>{name}", lines[number], count=1
        )
        if done:
            return
