"""Runs one probe: ``python probe.pyz COMMAND JOB.json OUT.jsonl``.

A command is a module with a driver of tests (``make_driver``), or with a function ``run(job, send)``, which sends
observations and returns how it ended.
"""

import functools
import importlib
import json
import sys
import time
from pathlib import Path

from . import hosting, wire


def main() -> None:
    """Do the job and write its observations, one JSON object a line; the last line reports how it ended."""
    command, job, out = sys.argv[1:]
    program = importlib.import_module("." + command, __package__)
    run = getattr(program, "run", functools.partial(hosting.watch, command))
    wire.use_project()
    with Path(out).open("wb") as file:
        send = functools.partial(wire.write_line, file)
        end = run(json.loads(Path(job).read_text(encoding="utf-8")), send)
        late = time.time() >= wire.END
        send({"end": wire.LATE if late else end})
    sys.exit(late)
