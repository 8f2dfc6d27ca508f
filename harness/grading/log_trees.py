"""Finds the logs of other harnesses below a folder, and what is beside each.

    <id>[.anything].txt or .log                                      in the folder itself, or in one named logs
    <id>/{test_output.txt, patch.diff, report.json}                  SWE-bench, and submissions to it
    <org>/<repo>/evals/pr-<number>/{fix-patch-run.log, fix.patch}    Multi-SWE-bench

The folder may be any part of such a tree. Records of agents (``trajs``) are no logs of tests.
"""

import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from assay.harness.errors import DataError
from assay.harness.files import parse_json

SUFFIXES = frozenset({".txt", ".log"})
OUTPUT, FIX_LOG = "test_output.txt", "fix-patch-run.log"
PATCHES = {OUTPUT: "patch.diff", FIX_LOG: "fix.patch"}
"""Names of the logs that have their own folder, and of the patch beside each."""
LOOKED_FOR = f"<id>[.anything].txt or .log, <id>/{OUTPUT} and <org>/<repo>/evals/pr-<number>/{FIX_LOG}"
_PULL_REQUEST = re.compile(r"([^/]+)/([^/]+)/(?:evals/)?pr-(\d+)$")


def find_logs(folder: Path, ids: Collection[str]) -> tuple[dict[str, Path], tuple[str, ...]]:
    """Return the log of each instance that has one, and the paths of the logs that are of no instance.

    ``ids`` may be in another case. Raises DataError if there is no such folder, or two logs are of one instance.
    """
    if not folder.is_dir():
        raise DataError("is no readable folder; give the folder that holds the logs", file=str(folder))
    known = {each.lower(): each for each in ids}
    logs: dict[str, Path] = {}
    strangers, top = [], folder.resolve()
    claims = ((path, _read_place(path, top, known)) for path in sorted(top.rglob("*")))
    for path, claimed in ((path, claimed) for path, claimed in claims if claimed and path.is_file()):
        name, shown = known.get(claimed), path.relative_to(top)
        if name is None:
            strangers.append(str(shown))
        elif name in logs:
            problem = (
                f"{logs[name].relative_to(folder)} is of the same instance; keep one, or name the folder of one run"
            )
            raise DataError(problem, file=str(folder / shown), instance=name)
        else:
            logs[name] = folder / shown
    return logs, tuple(strangers)


def read_patch(log: Path) -> str | None:
    """Return the patch beside a log; None if there is none."""
    with suppress(OSError, KeyError):
        return log.with_name(PATCHES[log.name]).read_text("utf-8", errors="replace")
    return None


def read_resolved(log: Path, instance_id: str) -> bool | None:
    """Return the "resolved" of the ``report.json`` beside a log; None if it has none."""
    with suppress(OSError, ValueError, LookupError, TypeError):
        found = parse_json(log.with_name("report.json").read_bytes())[instance_id]["resolved"]
        return found if isinstance(found, bool) else None
    return None


def _read_place(path: Path, top: Path, known: Collection[str]) -> str:
    """Return the id, in lower case, of whose tests a file is the log by its name and folder; empty if it is none."""
    folder = path.parent
    pull = _PULL_REQUEST.search(folder.as_posix())
    if "trajs" in path.relative_to(top).parts:
        return ""
    if path.name == OUTPUT:
        return folder.name.lower()
    if path.name == FIX_LOG and pull:  # below ``instances`` it is gold's, of a row that was made
        return "" if pull[2] == "instances" else f"{pull[1]}__{pull[2]}-{pull[3]}".lower()
    is_flat = (folder == top or folder.name == "logs") and not pull and folder.name.lower() not in known
    parts = path.name.lower().split(".") if is_flat and path.suffix.lower() in SUFFIXES else []
    stems = [".".join(parts[:end]) for end in range(len(parts) - 1, 0, -1)]
    return next((stem for stem in stems if stem in known), "".join(stems[:1]))
