"""SWE-PolyBench rows, from its CSV or the hub: lists are Python literals, the environment is a Dockerfile's text.

Dockerfile and test command are only kept to be written back; they are never run.
"""

import ast
import re
from collections.abc import Iterable
from typing import Any

from assay.harness.domain import DatasetRef, Instance, Rule
from assay.harness.errors import DataError
from assay.instances.dataset.formats.columns import (
    Row,
    build,
    commit,
    iso,
    kept_columns,
    moment,
    names,
    origin,
    row_id,
    text,
)
from assay.instances.dataset.formats.languages import assay_name

NAME = "polybench"
RULES: tuple[Rule, ...] = (Rule.SWE_POLYBENCH,)
COLUMNS = {"id": "instance_id", "gold_patch": "patch", "hints": "hints_text", "fail_to_pass": "F2P"}

LANGUAGES = {"java": "Java", "javascript": "JavaScript", "python": "Python", "typescript": "TypeScript"}
"""The dialect's names of languages, by Assay's."""

_FILE_AND_TITLE = re.compile(r"\S+\.[cm]?[jt]sx?->.*", re.DOTALL)
_FILE_CLASS_TEST = re.compile(r"\S+\.py:\w+:\w.*|[\w.]+:\w+:")

HELD = frozenset(
    {
        "instance_id",
        "repo",
        "base_commit",
        "language",
        "patch",
        "test_patch",
        "problem_statement",
        "hints_text",
        "created_at",
        "F2P",
        "P2P",
    }
)


def matches(row: Row) -> bool:
    return any(name in row for name in ("F2P", "P2P", "Dockerfile", "modified_nodes"))


def find_id(row: Row) -> str:
    return row_id(row)


def to_instance(row: Row, dataset: DatasetRef) -> Instance:
    language = _language(row)
    fixed, kept = (names(row, field, ast.literal_eval) for field in ("F2P", "P2P"))
    return build(
        COLUMNS,
        id=text(row, "instance_id"),
        repo=text(row, "repo"),
        base_commit=commit(row, "base_commit"),
        language=language,
        problem_statement=text(row, "problem_statement"),
        gold_patch=text(row, "patch"),
        test_patch=text(row, "test_patch"),
        fail_to_pass=fixed,
        pass_to_pass=kept,
        created_at=moment(row, "created_at", required=False),
        hints=text(row, "hints_text", required=False),
        test_id=_test_id(language, (*fixed, *kept)),
        rule=RULES[0],
        origin=origin(NAME, row, HELD),
        dataset=dataset,
    )


def from_instance(instance: Instance) -> dict[str, Any]:
    if instance.language not in LANGUAGES:
        problem = f"is {instance.language}; the format has {', '.join(LANGUAGES)}"
        raise DataError(problem, instance=instance.id, field="language")
    return {
        "instance_id": instance.id,
        "repo": instance.repo,
        "base_commit": instance.base_commit,
        "language": LANGUAGES[instance.language],
        "problem_statement": instance.problem_statement,
        "patch": instance.gold_patch,
        "test_patch": instance.test_patch,
        "hints_text": instance.hints,
        "F2P": repr(list(instance.fail_to_pass)),
        "P2P": repr(list(instance.pass_to_pass)),
        **iso(instance),
        **kept_columns(instance, NAME),
    }


def _test_id(language: str, labels: Iterable[str]) -> str:
    """Return how labels name tests; rows do not say which of the benchmark's parsers made them."""
    if language == "python":
        return "colons" if any(map(_FILE_CLASS_TEST.fullmatch, labels)) else ""
    if language == "java":
        return "" if any("#" in label for label in labels) else "dot"
    return "file_arrow" if any(map(_FILE_AND_TITLE.fullmatch, labels)) else "padded"


def _language(row: Row) -> str:
    language = assay_name(text(row, "language"))
    if language not in LANGUAGES:
        problem = f"{row['language']!r} is not one of {', '.join(LANGUAGES.values())}"
        raise DataError(problem, instance=row_id(row), field="language")
    return language
