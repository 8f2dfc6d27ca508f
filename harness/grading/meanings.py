"""Outcomes and flags in words for a person; ``docs/outcomes.md`` says the same, and a test compares."""

from collections.abc import Mapping
from pathlib import Path

from assay.harness.files import read_yaml

_WORDS: Mapping[str, Mapping[str, str]] = read_yaml(Path(__file__).with_suffix(".yaml"))
OUTCOMES, FLAGS = _WORDS["outcomes"], _WORDS["flags"]
"""Keys of flags may be their beginnings up to the colon."""


def get_meaning(flag: str) -> str:
    begin, colon, _ = flag.partition(":")
    return FLAGS.get(begin + colon, "")
