"""SWE-PolyBench rows, from its CSV or the hub: lists are Python literals, the environment is a Dockerfile's text.

A row's image has a name by a rule. Of the Dockerfile only the working folder is read; it is never run.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterable
from typing import Any

from assay.harness.domain import DatasetRef, Instance, PublishedImage, Rule
from assay.harness.errors import DataError
from assay.instances.dataset.formats import columns
from assay.instances.dataset.formats.classic import CLASSIC, classic_fields
from assay.instances.dataset.formats.classic import COLUMNS as CLASSIC_COLUMNS
from assay.instances.dataset.formats.columns import Row, row_error, row_id
from assay.instances.dataset.formats.commands import TESTBED, commands, find_log_format, make_published_image
from assay.instances.dataset.formats.languages import assay_name

NAME = "polybench"
RULES: tuple[Rule, ...] = (Rule.SWE_POLYBENCH,)
COLUMNS = {**CLASSIC_COLUMNS, "fail_to_pass": "F2P", "pass_to_pass": "P2P"}

LANGUAGES = {"java": "Java", "javascript": "JavaScript", "python": "Python", "typescript": "TypeScript"}
"""The dialect's names of languages, by Assay's."""

IMAGE = "ghcr.io/timesler/swe-polybench.eval.x86_64.{}:v1.1"
_FOLDER = re.compile(r"^[ \t]*WORKDIR[ \t]+(/\S*)", re.MULTILINE | re.IGNORECASE)
_FILE_AND_TITLE = re.compile(r"\S+\.[cm]?[jt]sx?->.*", re.DOTALL)
_FILE_CLASS_TEST = re.compile(r"\S+\.py:\w+:\w.*|[\w.]+:\w+:")

HELD = (CLASSIC - {"version", "FAIL_TO_PASS", "PASS_TO_PASS"}) | {"F2P", "P2P"}

matches = columns.make_matcher("F2P", "P2P", "Dockerfile", "modified_nodes")
find_id = row_id


def to_instance(row: Row, dataset: DatasetRef) -> Instance:
    language = _language(row)
    without_version = {**row, "version": None}  # no column of this dialect
    fields = classic_fields(without_version, COLUMNS, parse=_read_list, with_time=False)
    return columns.build(
        COLUMNS,
        **fields,
        language=language,
        environment=_read_image(row, language),
        test_id=_test_id(language, (*fields["fail_to_pass"], *fields["pass_to_pass"])),
        rule=RULES[0],
        origin=columns.origin(NAME, row, HELD),
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
        **columns.iso(instance),
        **columns.read_origin(instance, NAME),
    }


def _read_image(row: Row, language: str) -> PublishedImage | None:
    image = IMAGE.format(columns.text(row, "instance_id").lower())
    tests = commands(row, "test_command", row.get("test_command"))
    folders = _FOLDER.findall(columns.text(row, "Dockerfile", required=False))
    return make_published_image(image, find_log_format(language), tests, folder=[TESTBED, *folders][-1])


def _read_list(text: str) -> object:
    """Read a list as Python or numpy prints it: numpy puts no commas, and Python would join the strings."""
    value: object = ast.literal_eval(text)
    if not isinstance(value, list) or len(value) != 1:
        return value
    tokens = [*tokenize.generate_tokens(io.StringIO(text.strip()).readline)]
    return [ast.literal_eval(token.string) for token in tokens if token.type == tokenize.STRING] or value


def _test_id(language: str, labels: Iterable[str]) -> str:
    """Return how labels name tests; rows do not say which of the benchmark's parsers made them."""
    if language == "python":
        return "colons" if any(map(_FILE_CLASS_TEST.fullmatch, labels)) else ""
    if language == "java":
        return "" if any("#" in label for label in labels) else "dot"
    return "file_arrow" if any(map(_FILE_AND_TITLE.fullmatch, labels)) else "padded"


def _language(row: Row) -> str:
    language = assay_name(columns.text(row, "language"))
    if language not in LANGUAGES:
        raise row_error(row, "language", f"{row['language']!r} is not one of {', '.join(LANGUAGES.values())}")
    return language
