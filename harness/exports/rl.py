"""Chats with their rewards, for reinforcement learning: ``rl.jsonl`` with ``prompt``, ``completion`` and ``reward``."""

from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from assay.harness.exports.base import Problem, RunToExport
from assay.harness.exports.chat_messages import Message
from assay.harness.exports.training import Row, check_rows, write_rows

NAME = "rl"
LEADERBOARD = False
REQUIRED: tuple[str, ...] = ()
FILE = "rl.jsonl"


def files(run: RunToExport) -> Iterator[tuple[str, bytes]]:
    yield from write_rows(run, FILE, _split, only_passes=False)


def _split(chat: list[Message]) -> Row:
    """Part a chat before the model's first own answer."""
    prompt = [*takewhile(lambda each: each["role"] != "assistant" or each.get("weight") == 0, chat)]
    return {"prompt": prompt, "completion": chat[len(prompt) :]}


def check(folder: Path) -> Iterator[Problem]:
    yield from check_rows(folder, FILE, only_passes=False)
