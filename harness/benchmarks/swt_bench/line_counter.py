"""Counts how often lines of some files run: delivered to a container, where Python imports it at its start.

It runs in any Python from 3.6 on and imports nothing of Assay. What it counts is in the reach of the tests, so that it
decides nothing.
"""

import atexit
import dis
import json
import os
import sys
import threading
from pathlib import Path
from types import CodeType
from typing import Any

FILES, OUT = "ASSAY_LINES_OF", "ASSAY_LINES_IN"
"""Variables with the files, separated by colons, and with the folder in which each process leaves its counts."""


class LineCounter:
    """Counts the lines of some files, from ``start`` until the process ends."""

    def __init__(self, files: "list[str]", out: str) -> None:
        self.files = {os.path.realpath(path): path for path in files}
        self.counts: dict[str, dict[int, int]] = {path: {} for path in self.files}
        self.real: dict[str, str] = {}
        self.out = out

    def start(self) -> None:
        atexit.register(self.save)
        threading.settrace(self.trace_call)
        sys.settrace(self.trace_call)

    def trace_call(self, frame: Any, _event: str, _argument: Any) -> Any:
        name = frame.f_code.co_filename
        if name not in self.real:
            self.real[name] = os.path.realpath(name)
        counts = self.counts.get(self.real[name])
        if counts is None:
            return None

        def trace_line(frame: Any, event: str, _argument: Any) -> Any:
            if event == "line":
                counts[frame.f_lineno] = counts.get(frame.f_lineno, 0) + 1
            return trace_line

        return trace_line

    def save(self) -> None:
        sys.settrace(None)
        report = {self.files[path]: {"can_run": find_lines(path), "ran": ran} for path, ran in self.counts.items()}
        Path(self.out, f"{os.getpid()}-{id(self)}.json").write_text(json.dumps(report))


def find_lines(path: str) -> "list[int]":
    """Return the lines that hold an instruction; none if the file cannot be compiled."""
    try:
        waiting = [compile(Path(path).read_bytes(), path, "exec")]
    except (OSError, SyntaxError, ValueError):
        return []
    found: set[int] = set()
    while waiting:
        code = waiting.pop()
        found.update(line for _, line in dis.findlinestarts(code) if line)
        waiting.extend(each for each in code.co_consts if isinstance(each, CodeType))
    return sorted(found)


if os.environ.get(FILES) and os.environ.get(OUT):
    LineCounter(os.environ[FILES].split(":"), os.environ[OUT]).start()
