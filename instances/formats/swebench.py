"""SWE-bench rows: classic (Full, Lite, Verified, Multilingual, Multimodal) and those of 5.x with image and script."""

import re
from typing import Any

from assay.harness.domain import DatasetRef, Instance, PublishedImage, Rule
from assay.harness.errors import DataError
from assay.instances.formats.base import Row, build, moment, names, text

NAME = "swebench"

COLUMNS = {
    "id": "instance_id",
    "gold_patch": "patch",
    "hints": "hints_text",
    "fail_to_pass": "FAIL_TO_PASS",
    "pass_to_pass": "PASS_TO_PASS",
}
"""Fields of an instance whose column has another name."""

PREFIX = "parse_log_"

PYTEST_PARSERS = (
    "astroid astropy flask marshmallow matplotlib pvlib pydicom pylint pytest pyvista requests scikit seaborn "
    "sphinx sqlfluff xarray"
)
LOG_FORMATS = dict.fromkeys(PYTEST_PARSERS.split(), "pytest_text") | {
    "django": "unittest_text",
    "sympy": "sympy_text",
}
"""The dialect's parser name, without its prefix, to our report format; an unknown parser keeps its own name."""

LANGUAGES = {
    parser: language
    for language, parsers in {
        "c": "jq micropython_test redis",
        "cpp": "doctest googletest",
        "go": "gotest",
        "java": "ant gradle_custom maven",
        "javascript": "calypso chart_js immutable_js jest karma marked p5js react_pdf tap vitest",
        "php": "phpunit",
        "ruby": "jekyll rspec_transformed_json ruby_unit",
        "rust": "cargo",
    }.items()
    for parser in parsers.split()
}
"""The language that a parser tells; rows do not name it. Any other parser is Python's."""

RULES = {"pass_and_fail": Rule.SWE_BENCH, "fail_only": Rule.SWE_BENCH_FAIL_ONLY}


def matches(row: Row) -> bool:
    """Tell whether a row has one of the columns of SWE-bench; the others may be missing by mistake."""
    return "fix_patch" not in row and any(name in row for name in ("FAIL_TO_PASS", "test_patch", "base_commit"))


def to_instance(row: Row, dataset: DatasetRef) -> Instance:
    """Read a row; one that carries an image and a script keeps both as its environment."""
    parser = _parser(row)
    return build(
        COLUMNS,
        id=text(row, "instance_id"),
        repo=text(row, "repo"),
        base_commit=_commit(row),
        language=text(row, "language", required=False) or LANGUAGES.get(parser, "python"),
        problem_statement=text(row, "problem_statement"),
        gold_patch=text(row, "patch"),
        test_patch=text(row, "test_patch"),
        fail_to_pass=names(row, "FAIL_TO_PASS"),
        pass_to_pass=names(row, "PASS_TO_PASS"),
        created_at=moment(row, "created_at"),
        version=text(row, "version", required=False),
        hints=text(row, "hints_text", required=False),
        environment=_published(row),
        log_format=LOG_FORMATS.get(parser) or text(row, "log_parser"),
        rule=_rule(row),
        dataset=dataset,
    )


def from_instance(instance: Instance) -> dict[str, Any]:
    """Write an instance as a row of 5.x; raises DataError for one whose tree is not a commit."""
    if not instance.base_commit:
        raise DataError("has no commit, which this format needs", instance=instance.id, field="base_commit")
    row = {
        "repo": instance.repo,
        "instance_id": instance.id,
        "base_commit": instance.base_commit,
        "patch": instance.gold_patch,
        "test_patch": instance.test_patch,
        "problem_statement": instance.problem_statement,
        "hints_text": instance.hints,
        "created_at": instance.created_at.isoformat().replace("+00:00", "Z"),
        "version": instance.version,
        "FAIL_TO_PASS": list(instance.fail_to_pass),
        "PASS_TO_PASS": list(instance.pass_to_pass),
        "language": instance.language,
        "log_parser": _parser_of(instance.log_format),
        "eval_type": next(name for name, rule in RULES.items() if rule is instance.rule),
    }
    if isinstance(instance.environment, PublishedImage):
        row |= instance.environment.model_dump()
    return row


def _parser(row: Row) -> str:
    """Return the parser's short name; classic rows do not carry it, but 5.x named parsers after repositories."""
    given = text(row, "log_parser", required=False).removeprefix(PREFIX)
    if given:
        return given
    guess = text(row, "repo").rpartition("/")[2]
    return guess if guess in LOG_FORMATS else "pytest"


def _parser_of(log_format: str) -> str:
    if log_format == LOG_FORMATS["pytest"]:
        return PREFIX + "pytest"
    known = (PREFIX + parser for parser, named in LOG_FORMATS.items() if named == log_format)
    return next(known, log_format)


def _commit(row: Row) -> str:
    commit = text(row, "base_commit")
    if not re.fullmatch("[0-9a-f]{40}", commit):
        problem = f"{commit[:50]!r} is not a full commit id of 40 hex digits"
        raise DataError(problem, instance=text(row, "instance_id"), field="base_commit")
    return commit


def _rule(row: Row) -> Rule:
    name = text(row, "eval_type", required=False) or "pass_and_fail"
    if name not in RULES:
        problem = f"{name!r} is not one of {', '.join(RULES)}"
        raise DataError(problem, instance=text(row, "instance_id"), field="eval_type")
    return RULES[name]


def _published(row: Row) -> PublishedImage | None:
    image, script = text(row, "image", required=False), text(row, "eval_script", required=False)
    return PublishedImage(image=image, eval_script=script) if image and script else None
