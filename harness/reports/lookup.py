"""Finding an expected test among the reported ones, although label makers have shortened some names."""

import re
from collections.abc import Iterator, Mapping

from assay.harness.domain import Status

_PATH_PARAMETER = re.compile(r"(.*?\[)/([^/]*\])$")


def lookup(expected: str, tests: Mapping[str, Status]) -> Status:
    """Return the status of an expected test.

    The exact id wins. A shortened id stands for all reported ids that it may come from, and has a status only if they
    agree.

    Args:
        expected: the id as a data set writes it.
        tests: all reported tests.

    Returns:
        The status; MISSING when there is no evidence or the evidence is ambiguous.
    """
    if expected in tests:
        return tests[expected]
    found = {tests[name] for name in _candidates(expected, tests)}
    return found.pop() if len(found) == 1 else Status.MISSING


def names_a_test(label: str) -> bool:
    """Tell whether a label can be a test's name; label makers have taken progress marks like ``[100%]`` for one."""
    return any(character.isalpha() for character in label)


def _candidates(label: str, tests: Mapping[str, Status]) -> Iterator[str]:
    """Yield the reported ids that a shortened label may come from; most labels are whole and have none."""
    if not names_a_test(label):
        return
    if label.count("[") > label.count("]"):  # cut at the first blank
        yield from (name for name in tests if name.startswith(label))
    elif match := _PATH_PARAMETER.match(label):  # a path of the label maker's machine, cut to its last part
        start, end = match[1] + "/", "/" + match[2]
        yield from (name for name in tests if name.startswith(start) and name.endswith(end))
