"""Finds the logs of other harnesses below a folder, and what is beside each.

    <id>[.anything].txt or .log                                      in the folder itself, or in one named logs
    <id>/{test_output.txt, patch.diff, report.json}                  SWE-bench, and submissions to it
    <org>/<repo>/evals/pr-<number>/{fix-patch-run.log, fix.patch}    Multi-SWE-bench

The folder may be any part of such a tree. Records of agents (``trajs``) are no logs of tests.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
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

    ``ids`` may be in another case. Raises DataError if a folder cannot be read, or two logs are of one instance.
    """
    known = {each.lower(): each for each in ids}
    logs: dict[str, Path] = {}
    strangers, top = [], folder.resolve()
    for path in _list_logs(top, known):
        name, shown = _find_instance(path, known), path.relative_to(top)
        if name is None:
            strangers.append(str(shown))
        elif name in logs:
            other = logs[name].relative_to(folder)
            problem = f"{other} is of the same instance; keep one, or name the folder of one run"
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


def _list_logs(top: Path, known: Collection[str]) -> Iterator[Path]:
    for parent, folders, names in os.walk(top, onerror=_refuse):
        folders[:] = sorted({*folders} - {"trajs"})
        folder = Path(parent)
        chosen = (folder / name for name in sorted(_choose(folder, names, known, is_top=folder == top)))
        yield from (path for path in chosen if path.is_file())


def _refuse(error: OSError) -> None:
    problem = f"is no readable folder ({error.strerror}); give the folder that holds the logs"
    raise DataError(problem, file=str(error.filename)) from error


def _choose(folder: Path, names: Sequence[str], known: Collection[str], *, is_top: bool) -> Sequence[str]:
    """Return the names of the files in a folder that are logs of candidates' tests."""
    if own := [name for name in names if name in PATCHES]:
        return own if folder.parent.name != "instances" or OUTPUT in own else []  # gold's log, of a row that was made
    is_own = folder.name.lower() in known or _PULL_REQUEST.search(folder.as_posix())  # its tests did not run
    is_flat = is_top or folder.name == "logs"
    return [name for name in names if is_flat and not is_own and Path(name).suffix.lower() in SUFFIXES]


def _find_instance(path: Path, known: Mapping[str, str]) -> str | None:
    """Return the instance of a log: by its folder, or the longest id that its name starts with, up to a dot."""
    if path.name == OUTPUT:
        return known.get(path.parent.name.lower())
    if path.name == FIX_LOG:
        found = _PULL_REQUEST.search(path.parent.as_posix())
        return known.get("{}__{}-{}".format(*found.groups()).lower()) if found else None
    parts = path.name.lower().split(".")
    stems = (".".join(parts[:end]) for end in range(len(parts) - 1, 0, -1))
    return next((known[stem] for stem in stems if stem in known), None)
