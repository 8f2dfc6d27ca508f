"""Outcomes and flags in words for a person; ``docs/outcomes.md`` says the same, and a test compares."""

import re
from collections.abc import Mapping
from pathlib import Path

from assay.harness.files import read_yaml
from assay.harness.names import count

_COUNTS = re.compile(r"(\d+) of \d+ unfixed(?:, (\d+) of \d+ broken)?")

_WORDS: Mapping[str, Mapping[str, str]] = read_yaml(Path(__file__).with_suffix(".yaml"))
OUTCOMES, FLAGS = _WORDS["outcomes"], _WORDS["flags"]
"""Keys of flags may be their beginnings up to the colon."""


def get_meaning(flag: str) -> str:
    begin, colon, _ = flag.partition(":")
    return FLAGS.get(begin + colon, "")


def say_reason(reason: str) -> str:
    """Return a verdict's reason with its counts as a sentence: "1 test still fails, 2 now fail"."""
    return _COUNTS.sub(lambda found: _say_counts(int(found[1]), int(found[2] or 0)), reason, count=1)


def _say_counts(unfixed: int, broken: int) -> str:
    counts = [each for each in ((unfixed, "still fail"), (broken, "now fail")) if each[0]]
    said = [f"{number} {verb}{'s' if number == 1 else ''}" for number, verb in counts]
    if not said:
        return "no labelled test fails"
    return ", ".join(said).replace(str(counts[0][0]), count(counts[0][0], "test"), 1)
