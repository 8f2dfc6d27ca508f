"""SWE-smith rows: ``patch`` introduces a bug, so the gold patch is its reverse and the base tree has the bug.

The tests that show the bug are in the repository already, so there is no test patch. A row's image holds the tree
without the bug; its test command is the benchmark's own, by repository or else by language (``swe_smith.yaml``).
"""

import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

from assay.harness.domain import DatasetRef, Instance, PatchedCommit, PublishedImage, Rule
from assay.harness.errors import DataError
from assay.harness.files import read_yaml
from assay.instances.dataset.formats import columns
from assay.instances.dataset.formats.classic import CLASSIC
from assay.instances.dataset.formats.columns import Row, row_error, row_id
from assay.instances.dataset.formats.commands import CONDA, find_log_format, make_published_image
from assay.instances.dataset.formats.languages import find_language
from assay.instances.dataset.formats.reverse import IrreversibleError, reverse

NAME = "swe-smith"
RULES: tuple[Rule, ...] = (Rule.SWE_SMITH,)
COLUMNS = {"id": "instance_id", "fail_to_pass": "FAIL_TO_PASS", "pass_to_pass": "PASS_TO_PASS"}

HELD = CLASSIC - {"test_patch", "hints_text", "version"}


_IMAGE = re.compile(r"(?:.*/)?swesmith\.[^.]+\.(.+?)(?:_1776_|__)(.+)\.[0-9a-f]{8}(?::.*)?")
"""Name of an image, with owner and name of the repository."""


def matches(row: Row) -> bool:
    """Return whether a row names an image and has no test patch."""
    return "image_name" in row and "test_patch" not in row


find_id = row_id


def to_instance(row: Row, dataset: DatasetRef) -> Instance:
    """Read a row; its base tree is a commit with the bug on top."""
    bug = columns.text(row, "patch")
    try:
        gold = reverse(bug)
    except IrreversibleError as error:
        raise row_error(row, "patch", f"{error}; write it with git diff --binary --no-renames") from None
    labels = [columns.names(row, field) for field in ("FAIL_TO_PASS", "PASS_TO_PASS")]
    language = find_language(row, bug)
    return columns.build(
        COLUMNS,
        id=columns.text(row, "instance_id"),
        repo=columns.text(row, "repo"),
        base=PatchedCommit(commit=columns.commit(row, "base_commit"), patch=bug),
        language=language,
        problem_statement=columns.text(row, "problem_statement", required=False),
        gold_patch=gold,
        test_patch="",
        fail_to_pass=labels[0],
        pass_to_pass=labels[1],
        environment=_read_image(columns.text(row, "image_name"), language, (*labels[0], *labels[1])),
        created_at=columns.moment(row, "created_at", required=False),
        rule=RULES[0],
        origin=columns.origin(NAME, row, HELD),
        dataset=dataset,
    )


def from_instance(instance: Instance) -> dict[str, Any]:
    """Write an instance as a row; raises DataError if its base tree is not a commit with a bug."""
    if instance.base is None:
        problem = "is missing: rows of this format add a bug to a commit"
        raise DataError(problem, instance=instance.id, field="base")
    return {
        "image_name": "",
        "instance_id": instance.id,
        "repo": instance.repo,
        "base_commit": instance.base.commit,
        "language": instance.language,
        "patch": instance.base.patch,
        "problem_statement": instance.problem_statement,
        "FAIL_TO_PASS": list(instance.fail_to_pass),
        "PASS_TO_PASS": list(instance.pass_to_pass),
        **columns.iso(instance),
        **columns.read_origin(instance, NAME),
    }


def _read_image(image: str, language: str, labels: tuple[str, ...]) -> PublishedImage | None:
    """Return a row's image with its test command; pytest gets the files of the labels."""
    by_language, by_repository = _load_commands()
    named = _IMAGE.fullmatch(image)
    command = by_language.get(language, "")
    command = by_repository.get(f"{named[1]}/{named[2]}", command) if named else command
    files = sorted({label.partition("::")[0] for label in labels}) if "pytest" in command else []
    before = CONDA if language == "python" else ()
    tests = [f"{command} {shlex.join(files)}".strip()] if command else []
    return make_published_image(image, find_log_format(language), tests, before=before)


@cache
def _load_commands() -> tuple[dict[str, str], dict[str, str]]:
    found = read_yaml(Path(__file__).with_suffix(".yaml"))
    return found["languages"], found["repositories"]
