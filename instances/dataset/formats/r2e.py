"""R2E-Gym rows: a commit parsed into JSON, and the expected result of every test after it.

Rows have no fail-to-pass and pass-to-pass lists: the map of all results counts, and is the instance's ``fix`` stage.
The benchmark keeps test files outside the repository; here they are the test patch, in a row's image, too.
"""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from assay.harness.domain import DatasetRef, Instance, PublishedImage, Rule, Stages, Status
from assay.harness.errors import DataError
from assay.harness.languages import find
from assay.instances.dataset.formats import columns
from assay.instances.dataset.formats.columns import Row, row_error, row_id
from assay.instances.dataset.formats.commands import TESTBED, list_files_after, make_published_image

NAME = "r2e"
RULES: tuple[Rule, ...] = (Rule.R2E,)
COLUMNS = {"id": "commit_hash", "repo": "repo_name"}

COMMIT = "parsed_commit_content"
EXPECTED = "expected_output_json"
HELD = frozenset({EXPECTED, "instance_id"})

STATUSES = {"PASSED": Status.PASSED, "FAILED": Status.FAILED, "ERROR": Status.ERROR}
SIGNS = {"context": " ", "added": "+", "deleted": "-", "note": "\\ "}
TEST_FOLDERS = frozenset({"test", "Test", "tests", "Tests"})

LOG_FORMAT = "pytest_text"
EXPORTS = ("export PYTHONWARNINGS=ignore", "export QT_QPA_PLATFORM=minimal")
RUNNER = f"{TESTBED}/.venv/bin/python -m pytest -rA"
"""What an image's own script runs, with the files of the test patch in place of its copies of them."""

_ISSUE = re.compile(r"\[ISSUE\](.*)\[/ISSUE\]", re.DOTALL)

matches = columns.make_matcher(COMMIT, EXPECTED)


def find_id(row: Row) -> str:
    """Return the column ``instance_id``, else the repository's name and the commit."""
    parts = (row.get("repo_name"), row.get("commit_hash"))
    return row_id(row) or ("{}-{}".format(*parts) if all(isinstance(part, str) and part for part in parts) else "")


def to_instance(row: Row, dataset: DatasetRef) -> Instance:
    """Read a row; the repository is a bare name without an owner."""
    for field in ("repo_name", "commit_hash"):
        columns.text(row, field)
    row = {**row, "instance_id": find_id(row)}
    parsed, statement = columns.mapping(row, COMMIT), columns.text(row, "problem_statement")
    marked, parent = _ISSUE.search(statement), _parent(row, parsed)
    tests = _patch(row, parsed, of_tests=True)
    return columns.build(
        COLUMNS,
        id=columns.text(row, "instance_id"),
        repo=columns.text(row, "repo_name"),
        base_commit=parent,
        problem_statement=marked[1].strip("\n") if marked else statement,
        gold_patch=_patch(row, parsed, of_tests=False),
        test_patch=tests,
        fail_to_pass=(),
        pass_to_pass=(),
        created_at=columns.moment({**row, "commit_date": parsed.get("commit_date")}, "commit_date", required=False),
        environment=_read_image(row, tests),
        rule=RULES[0],
        stages=Stages(fix=_read_expected(row)),
        origin=columns.origin(NAME, row, HELD),
        dataset=dataset,
    )


def from_instance(instance: Instance) -> dict[str, Any]:
    """Write an instance that was read from such a row; only those have the parsed commit."""
    kept = columns.read_origin(instance, NAME)
    if not kept or instance.stages is None:
        raise DataError("can only be written if it came from a row of this format", instance=instance.id)
    expected = {test: status.name for test, status in instance.stages.fix.items()}
    return kept | {EXPECTED: json.dumps(expected), "instance_id": instance.id}


def _read_image(row: Row, test_patch: str) -> PublishedImage | None:
    files = find("python").test_targets(list_files_after(test_patch))
    image = columns.text(row, "docker_image", required=False)
    return make_published_image(image, LOG_FORMAT, [f"{RUNNER} {shlex.join(files)}"] if files else [], before=EXPORTS)


def _parent(row: Row, parsed: Mapping[str, Any]) -> str:
    """Return the parent commit; some rows write ``<commit>^``, which stays as it is and has to be looked up."""
    parent = parsed.get("old_commit_hash")
    suffix = "^" if isinstance(parent, str) and parent.endswith("^") else ""
    bare = parent.removesuffix("^") if isinstance(parent, str) else ""
    return columns.commit(row, f"{COMMIT}.old_commit_hash", bare) + suffix


def _read_expected(row: Row) -> dict[str, Status]:
    found = {}
    for test, status in columns.mapping(row, EXPECTED).items():
        if status not in STATUSES:
            raise row_error(row, EXPECTED, f"{test[:60]!r} is {status!r}; write one of {', '.join(STATUSES)}")
        found[test] = STATUSES[status]
    if Status.PASSED not in found.values():
        raise row_error(row, EXPECTED, "names no test that passes; leave the row out")
    return found


def _patch(row: Row, parsed: Mapping[str, Any], *, of_tests: bool) -> str:
    """Rebuild the patch of a commit: its test files, or the others; binary files are left out."""
    try:
        files = [
            (diff["header"]["file"]["path"], diff) for diff in parsed["file_diffs"] if not diff.get("is_binary_file")
        ]
        return "".join("".join(_file(diff)) for path, diff in files if _is_test(path) is of_tests)
    except (AttributeError, KeyError, TypeError) as error:
        problem = f"is no parsed commit: {error} is missing or wrong; copy the whole column"
        raise row_error(row, COMMIT, problem) from None


def _is_test(path: str) -> bool:
    pure = PurePosixPath(path)
    named = pure.name.startswith("test_") or pure.name.endswith("_test.py")
    return named or not TEST_FOLDERS.isdisjoint(pure.parts)


def _file(diff: Mapping[str, Any]) -> Iterator[str]:
    path, header, index = diff["header"]["file"]["path"], diff["header"], diff.get("index_line")
    yield f"diff --git a/{path} b/{path}\n"
    if header.get("misc_line"):
        yield header["misc_line"] + "\n"
    if index:
        mode = f" {index['mode']}" if index.get("mode") else ""
        yield f"index {index['old_commit_hash']}..{index['new_commit_hash']}{mode}\n"
    if diff.get("minus_file") and diff.get("plus_file"):
        yield f"--- {diff['minus_file']['path']}\n+++ {diff['plus_file']['path']}\n"
    for hunk in diff.get("hunks") or ():
        yield from _hunk(hunk)


def _hunk(hunk: Mapping[str, Any]) -> Iterable[str]:
    about = hunk["descriptor"]
    old, new = _range(about["old_range"]), _range(about["new_range"])
    section = f" {about['section']}" if about.get("section") else ""
    yield f"@@ -{old} +{new} @@{section}\n"
    for line in hunk["line_group"]["all_lines"]:
        yield f"{SIGNS[line['type']]}{line['content']}\n"


def _range(lines: Mapping[str, Any]) -> str:
    return f"{lines['start']}" if lines.get("length") is None else f"{lines['start']},{lines['length']}"
