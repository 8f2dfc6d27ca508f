"""Find an expected test among the reported ones; some data sets have shortened labels."""

import re
from collections.abc import Iterator, Mapping

from assay.harness.domain import Status

_ALONE = {status: frozenset({status}) for status in Status}
_PATH_PARAMETER = re.compile(r"(.*?\[)/([^/]*\])$")
_REPEATED = re.compile(r"(.*\[.*\d)_(\d+\])$")


def lookup(label: str, tests: Mapping[str, Status]) -> frozenset[Status]:
    """Return the statuses of the reported tests that an expected label stands for.

    The exact id wins, then the one without needless blanks, which logs do not keep. A shortened label stands for every
    reported id that it may come from: all of them have to satisfy a rule, but they need not agree.
    MISSING alone means that no reported test fits.
    """
    if label in tests:
        return _ALONE[tests[label]]
    bare = next((name for name in (label.strip(), " ".join(label.split())) if name in tests), "")
    if bare:
        return _ALONE[tests[bare]]
    return frozenset(tests[name] for name in find_candidates(label, tests)) or frozenset({Status.MISSING})


def names_a_test(label: str) -> bool:
    """Return whether a label can be a test's name; some data sets list progress marks such as ``[100%]`` as tests."""
    return label[:1].isalpha() or any(character.isalpha() for character in label)


def find_candidates(label: str, tests: Mapping[str, Status]) -> Iterator[str]:
    """Yield the reported ids that a shortened label may stand for; none for a whole label."""
    if not names_a_test(label):
        return
    if label.count("[") > label.count("]"):  # cut at the first blank
        yield from (name for name in tests if name.startswith(label))
    elif match := _PATH_PARAMETER.match(label):  # an absolute path, cut to its last part
        start, end = match[1] + "/", "/" + match[2]
        yield from (name for name in tests if name.startswith(start) and name.endswith(end))
    elif (match := _REPEATED.match(label)) and {f"{match[1]}{end}" for end in ("0]", "1]", match[2])} <= tests.keys():
        yield match[1] + match[2]  # since 8, pytest parts a repeated parameter and its number by "_"
