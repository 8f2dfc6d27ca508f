"""What rows leave to a clone and to files beside them: a base commit by its child; Commit0's fix and ids of tests."""

import bz2
from functools import partial
from pathlib import Path

from assay.harness import languages
from assay.harness.domain import TreeRef
from assay.harness.errors import DataError
from assay.instances.dataset.formats.columns import Row, row_id, text
from assay.instances.dataset.formats.commit0 import PATCH, REFERENCE, TEST_IDS, find_id
from assay.instances.trees.diff import part_source, split_diff
from assay.instances.trees.sources import Sources

PYTHON = "python"


def fill_from_commits(row: Row, table: str, sources: Sources) -> Row:
    """Return a row with its base commit by its id, and with the fix and the tests' ids if it names a commit to reach.

    ``table`` is the path of the file that the row is from. Raises DataError, or EnvironmentFailure without a clone.
    """
    base = row.get("base_commit")
    if row.get("prob_script") and isinstance(base, str) and base.endswith("^"):
        row = {**row, "base_commit": _find_parent(row, base.removesuffix("^"), sources)}
    if not row.get(REFERENCE):
        return row
    found = dict(row)
    if found.get(TEST_IDS) is None:
        found[TEST_IDS] = _read_ids(row, Path(table).parent)
    if found.get(PATCH) is None:
        found[PATCH] = _compare(row, sources)
    return found


def _find_parent(row: Row, commit: str, sources: Sources) -> str:
    """Return the id of the commit before one, as GSO's rows name their base."""
    found = sources.find_parent(TreeRef(repo=text(row, "repo"), commit=commit))
    if found is None:
        problem = f"is the commit before {commit}, which no clone here has; name one: --mirror DIR"
        raise DataError(problem, instance=row_id(row), field="base_commit")
    return found


def _read_ids(row: Row, beside: Path) -> list[str]:
    name = text(row, "repo").rpartition("/")[2].lower().replace(".", "-")
    path = beside / TEST_IDS / f"{name}.bz2"
    try:
        lines = bz2.decompress(path.read_bytes()).decode().splitlines()
    except (OSError, ValueError) as error:
        problem = f"is missing, and {path} cannot be read: {error}; put the benchmark's folder test_ids beside the rows"
        raise DataError(problem, instance=find_id(row), field=TEST_IDS) from None
    return [line for line in lines if line.strip()]


def _compare(row: Row, sources: Sources) -> str:
    """Return the difference of the two commits below the sources."""
    repo, folder = text(row, "repo"), f"{text(row, 'src_dir').strip('./')}/"
    base, reference = (TreeRef(repo=repo, commit=text(row, name)) for name in ("base_commit", REFERENCE))
    known = languages.find(PYTHON)
    trees = sources.differing(base, reference)
    old, new = ([each for each in tree if each.path.startswith(folder)] for tree in trees)
    return split_diff(old, new, lambda _: False, partial(part_source, known.LINES))[0]
