"""The journal of a run: what happened when, one line of JSON for each event. No verdict depends on it."""

import json
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from assay.harness.files import append_lines, parse_json, read_regular, replace_file


class Journal:
    """A file that only grows; lines of it that a crash tore are ignored."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, event: str, facts: Mapping[str, Mapping[str, str]]) -> None:
        """Append a line for each instance id; should the machine lose its power, the last ones may be lost."""
        now = {"time": round(time.time(), 3), "event": event}
        lines = (json.dumps({**now, "instance": name, **more}).encode() for name, more in facts.items())
        append_lines(self._path, lines)

    def read(self, start: int = 0) -> tuple[list[dict[str, str]], int]:
        """Return the events behind a place in the file, and the place behind the last whole line."""
        try:
            lines, ended, _ = read_regular(self._path, start).rpartition(b"\n")
        except FileNotFoundError:
            return [], start
        return [event for line in lines.splitlines() if (event := _event(line))], start + len(lines) + len(ended)

    def replace(self, events: Iterable[Mapping[str, str]]) -> None:
        replace_file(self._path, "".join(f"{json.dumps(event)}\n" for event in events).encode())


def _event(line: bytes) -> dict[str, str]:
    try:
        found = parse_json(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
