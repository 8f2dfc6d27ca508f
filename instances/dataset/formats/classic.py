"""The classic SWE-bench columns, which several formats share."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from assay.harness.domain import Instance
from assay.harness.errors import DataError
from assay.instances.dataset.formats.columns import Row, commit, iso, moment, names, text

COLUMNS = {
    "id": "instance_id",
    "gold_patch": "patch",
    "hints": "hints_text",
    "fail_to_pass": "FAIL_TO_PASS",
    "pass_to_pass": "PASS_TO_PASS",
}
"""Columns of fields that rows call otherwise."""

CLASSIC = frozenset(COLUMNS.values()) | {
    *("repo", "base_commit", "language", "test_patch", "problem_statement", "created_at", "version")
}
"""The classic columns. An instance holds all of them."""


def classic_fields(
    row: Row,
    columns: Mapping[str, str] = COLUMNS,
    *,
    parse: Callable[[str], object] = json.loads,
    with_time: bool = True,
) -> dict[str, Any]:
    """Return the fields of an instance that the classic columns give, all but the language.

    Args:
        columns: names of the columns of fields that rows call otherwise.
        parse: reads a list of tests that is written as a string.
        with_time: whether the time is required; rows with their own image need none, since no packages are resolved.
    """
    return {
        "id": text(row, "instance_id"),
        "repo": text(row, "repo"),
        "base_commit": commit(row, "base_commit"),
        "problem_statement": text(row, "problem_statement"),
        "gold_patch": text(row, columns["gold_patch"]),
        "test_patch": text(row, "test_patch"),
        "fail_to_pass": names(row, columns["fail_to_pass"], parse),
        "pass_to_pass": names(row, columns["pass_to_pass"], parse),
        "created_at": moment(row, "created_at", required=with_time),
        "version": text(row, "version", required=False),
        "hints": text(row, "hints_text", required=False),
    }


def classic_row(instance: Instance) -> dict[str, Any]:
    """Return the classic columns of an instance; raises DataError if its tree is not a commit."""
    if not instance.base_commit:
        raise DataError("is missing: rows of this format need a commit", instance=instance.id, field="base_commit")
    return {
        "repo": instance.repo,
        "instance_id": instance.id,
        "base_commit": instance.base_commit,
        "patch": instance.gold_patch,
        "test_patch": instance.test_patch,
        "problem_statement": instance.problem_statement,
        "hints_text": instance.hints,
        "created_at": None,
        **iso(instance),
        "version": instance.version,
        "FAIL_TO_PASS": list(instance.fail_to_pass),
        "PASS_TO_PASS": list(instance.pass_to_pass),
        "language": instance.language,
    }
