"""Which files may not change while the tests run, and which of them have when they have ended. Pure.

The code under test runs before most test files are read. Only the kernel sets the time of a change, so root compares
those times: of all files of tests, of what steers the runner, and of whatever the test patch touches. They are not
made read-only: a write that is refused would look like a failed test, and one that is seen is proof.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import groupby

from assay.harness import languages
from assay.harness.domain import Instance, TestPlan
from assay.harness.evaluation.protection import steers
from assay.harness.languages import Language
from assay.harness.patches.diff import find_touched_paths

LISTED_BYTES = 1024 * 1024
"""How much of the list of changes is kept; more than any honest run makes beside its tests."""
FLOODED = "more files than can be listed"
WRITTEN = ("*.lock", "*-lock.json", "*-lock.yaml", "*go.sum", "*go.work.sum")
"""Package managers write these while tests run."""
CACHE = "__pycache__"  # Python runs what stands in it in place of a source


@dataclass(frozen=True, slots=True)
class Guarded:
    """What root compares."""

    files: tuple[str, ...] = ()
    """Not all of them exist."""
    data: tuple[str, ...] = ()
    """Other files of tests. Their sizes and the times of their contents are compared: honest tests open some to write,
    and write nothing, but the first time that this is done, an overlay makes a copy."""
    caches: tuple[str, ...] = ()
    """Names in folders of tests alone at which a file stands, so that no bytecode can."""
    watched: tuple[str, ...] = ()
    """Folders in which no new file may steer the runner; empty for the root of the tree."""


def choose_guarded(instance: Instance, plan: TestPlan, tree: Iterable[str], tripwires: Iterable[str] = ()) -> Guarded:
    """Choose from the files of a tree; ``tripwires`` are the names of files that may stand in each watched folder."""
    if not plan.guarded:
        return Guarded()
    language = languages.find_or_none(instance.language)
    sources = tuple(language.SUFFIXES) if language else ()
    theirs = {*plan.restore, *plan.runs, *find_touched_paths(instance.test_patch)}
    files, data, caches, watched = list[str](), list[str](), list[str](), list[str]()
    places = sorted({*tree, *theirs}, key=lambda path: path.rpartition("/")[::2])
    for folder, members in groupby(places, lambda path: path.rpartition("/")[0]):
        paths = list(members)
        tests = {path for path in paths if language and language.is_test_file(path)}
        guarded = {path for path in paths if path in theirs or _steers(path, language)}
        guarded |= {path for path in tests if path.endswith(sources)}
        files += guarded
        data += tests - guarded
        if guarded or not folder:
            watched.append(folder)
        if folder and tests.issuperset(paths) and any(path.endswith(".py") for path in paths):
            caches.append(f"{folder}/{CACHE}")
    files += [f"{folder}/{name}".lstrip("/") for folder in watched for name in tripwires]
    return Guarded((*files, *caches), tuple(data), tuple(caches), tuple(watched))


def find_rewritten(
    instance: Instance, changed: bytes, is_same: Callable[[str], bool] = lambda _path: False
) -> tuple[str, ...]:
    """Find guarded files, and new ones that steer the runner, in the supervisor's list of changes.

    Each entry is a time, 0 for an entry of a watched folder, and a path, ended by NUL. A list that is cut off counts as
    a change: it may have hidden one. ``is_same`` is asked for other files of tests, which honest tests may touch.
    """
    language = languages.find_or_none(instance.language)
    entries = (entry.partition(" ./")[::2] for entry in changed.decode(errors="replace").split("\0"))
    found = {path: time for time, path in entries if time and (time != "0" or _steers(path, language))}
    found = {path: time for path, time in found.items() if "-" not in time or not is_same(path)}
    return (*sorted(found), *([FLOODED] if len(changed) >= LISTED_BYTES else []))


def _steers(path: str, language: Language | None) -> bool:
    return steers(path, language) and not any(fnmatchcase(path, pattern) for pattern in WRITTEN)
