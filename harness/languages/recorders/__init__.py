"""What tests compare, as recorded in a container. Each recorder is one source, for the end of a hidden test file."""

from pathlib import Path

from assay.harness.languages.recorders.python import ASSAY_RECORDS

RECORDS = ASSAY_RECORDS
"""File in the container, which everybody may write: nothing in it is secret, and a forged record has to be right."""


def read_recorder(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
