"""Chats of what is resolved, for supervised fine-tuning: ``sft.jsonl`` with ``messages``."""

from collections.abc import Iterator
from pathlib import Path

from assay.harness.exports.base import Problem, RunToExport
from assay.harness.exports.training import check_rows, write_rows

NAME = "sft"
LEADERBOARD = False
REQUIRED: tuple[str, ...] = ()
FILE = "sft.jsonl"


def files(run: RunToExport) -> Iterator[tuple[str, bytes]]:
    yield from write_rows(run, FILE, lambda chat: {"messages": chat}, only_passes=True)


def check(folder: Path) -> Iterator[Problem]:
    yield from check_rows(folder, FILE, only_passes=True)
