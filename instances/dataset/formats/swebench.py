"""SWE-bench rows: classic (Full, Lite, Verified, Multilingual, Multimodal) and those of 5.x with image and script."""

from typing import Any, NamedTuple

from assay.harness.domain import DatasetRef, Instance, PublishedImage, Rule
from assay.harness.errors import DataError
from assay.instances.dataset.formats import assets
from assay.instances.dataset.formats.base import (
    Row,
    build,
    columns_of,
    commit,
    iso,
    moment,
    names,
    origin,
    row_id,
    text,
)
from assay.instances.dataset.formats.languages import guess, named

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
    "pytest astroid astropy flask marshmallow matplotlib pvlib pydicom pylint pyvista requests scikit seaborn "
    "sphinx sqlfluff xarray"
)


class Parser(NamedTuple):
    """What the name of a row's log parser tells: how to read its logs, and how its labels name a test."""

    log_format: str
    test_id: str = ""
    """Empty for the usual way of the language."""
    language: str = "python"


PARSERS = dict.fromkeys(PYTEST_PARSERS.split(), Parser("pytest_text")) | {
    "django": Parser("unittest_text"),
    "sympy": Parser("sympy_text", "function"),
    "tox": Parser("tox_text"),
    "ant": Parser("ant_text", "parens", "java"),
    "maven": Parser("maven_text", "method", "java"),
    "gradle_custom": Parser("gradle_text", "arrow", "java"),
    "cargo": Parser("cargo_text", "node", "rust"),
    "gotest": Parser("go_text", "node", "go"),
    "doctest": Parser("doctest_xml", "arrow", "cpp"),
    "googletest": Parser("googletest_text", "dot", "cpp"),
    "jq": Parser("jq_text", "node", "c"),
    "micropython_test": Parser("micropython_text", "node", "c"),
    "redis": Parser("redis_text", "node", "c"),
    "jest": Parser("jest_text", "title", "javascript"),
    "calypso": Parser("jest_text", "dashed", "javascript"),
    "immutable_js": Parser("jest_text", "any_title", "javascript"),
    "react_pdf": Parser("jest_text", "file_title", "javascript"),
    "vitest": Parser("vitest_text", "arrow", "javascript"),
    "karma": Parser("karma_text", "arrow", "javascript"),
    "chart_js": Parser("karma_text", "padded", "javascript"),
    "marked": Parser("jasmine_text", "spaced", "javascript"),
    "p5js": Parser("mocha_text", "colon", "javascript"),
    "tap": Parser("tap", "spaced", "javascript"),
    "phpunit": Parser("phpunit_text", "testdox", "php"),
    "jekyll": Parser("jekyll_text", "method", "ruby"),
    "ruby_unit": Parser("minitest_text", "title", "ruby"),
    "rspec_transformed_json": Parser("rspec_text", "rspec", "ruby"),
}
"""The dialect's parser name, without its prefix, to what it tells."""

NOBODY_TELLS = Parser("", "", "")

EVAL_TYPES = {"pass_and_fail": Rule.SWE_BENCH, "fail_only": Rule.SWE_BENCH_FAIL_ONLY}
RULES: tuple[Rule, ...] = tuple(EVAL_TYPES.values())

CLASSIC = frozenset(
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
        "version",
        "FAIL_TO_PASS",
        "PASS_TO_PASS",
    }
)
"""Columns that several benchmarks have alike and an instance holds in whole."""
HELD = CLASSIC | {"log_parser", "eval_type", "image", "eval_script"}


def matches(row: Row) -> bool:
    """Tell whether a row has one of the columns of SWE-bench; the others may be missing by mistake."""
    return any(name in row for name in ("FAIL_TO_PASS", "test_patch", "base_commit"))


def id_of(row: Row) -> str:
    """Return the id that the row has."""
    return row_id(row)


def to_instance(row: Row, dataset: DatasetRef) -> Instance:
    """Read a row; one that carries an image and a script keeps both as its environment."""
    environment = _published(row)
    parser = parser_of(row)
    synonym = row.get("log_parser") not in {None, parser_name(*parser[:2])}
    return build(
        COLUMNS,
        **classic(row, with_time=environment is None),
        language=language_of(row, parser),
        environment=environment,
        log_format=parser.log_format,
        test_id=parser.test_id,
        rule=_rule(row),
        assets=assets.read(row),
        origin=origin(NAME, row, HELD - {"log_parser"} if synonym else HELD),
        dataset=dataset,
    )


def from_instance(instance: Instance) -> dict[str, Any]:
    """Write an instance as a row of 5.x; raises DataError for one whose tree is not a commit."""
    eval_type = next((name for name, rule in EVAL_TYPES.items() if rule is instance.rule), "")
    row: dict[str, Any] = {"log_parser": parser_name(instance.log_format, instance.test_id), "eval_type": eval_type}
    row |= columns_of(instance, NAME) | classic_row(instance)
    if instance.assets and assets.COLUMN not in row:
        row[assets.COLUMN] = assets.write(instance.assets)
    if isinstance(instance.environment, PublishedImage):
        row |= instance.environment.model_dump()
    return row


def classic(row: Row, *, with_time: bool = True) -> dict[str, Any]:
    """Return the fields of an instance that the classic columns give, all but the language.

    Args:
        row: the row.
        with_time: the time must be there. Rows with an image of their own may go without: nothing is resolved by it.
    """
    return {
        "id": text(row, "instance_id"),
        "repo": text(row, "repo"),
        "base_commit": commit(row, "base_commit"),
        "problem_statement": text(row, "problem_statement"),
        "gold_patch": text(row, "patch"),
        "test_patch": text(row, "test_patch"),
        "fail_to_pass": names(row, "FAIL_TO_PASS"),
        "pass_to_pass": names(row, "PASS_TO_PASS"),
        "created_at": moment(row, "created_at", required=with_time),
        "version": text(row, "version", required=False),
        "hints": text(row, "hints_text", required=False),
    }


def classic_row(instance: Instance) -> dict[str, Any]:
    """Return the classic columns of an instance; raises DataError for one whose tree is not a commit."""
    if not instance.base_commit:
        raise DataError("has no commit, which this format needs", instance=instance.id, field="base_commit")
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


def parser_named(name: str) -> Parser:
    """Return what a parser's name tells; of an unknown one, its own name as the format. Empty: nobody tells."""
    known = PARSERS.get(name.removeprefix(PREFIX))
    return known or Parser(name, "", "")


def parser_name(log_format: str, test_id: str) -> str:
    """Return the dialect's name of the parser that tells these two; the format itself if there is none."""
    if PARSERS["pytest"][:2] == (log_format, test_id):
        return PREFIX + "pytest"
    known = (PREFIX + name for name, parser in PARSERS.items() if parser[:2] == (log_format, test_id))
    return next(known, log_format)


def parser_of(row: Row) -> Parser:
    """Return the parser of a row's labels.

    Classic rows have no such column, but 5.x named parsers after repositories. An empty column says that nobody knows.
    """
    given = text(row, "log_parser", required=False)
    if given or row.get("log_parser") == "":
        return parser_named(given)
    own = PARSERS.get(text(row, "repo").rpartition("/")[2], NOBODY_TELLS)
    python = not own.log_format and language_of(row, own) == "python"
    return PARSERS["pytest"] if python else own


def language_of(row: Row, parser: Parser) -> str:
    """Return the language that a row names, or that its parser or else its patches tell; Python when nothing does."""
    told = named(text(row, "language", required=False)) or parser.language
    return told or guess(text(row, "repo"), text(row, "patch"), text(row, "test_patch"), default="python")


def _rule(row: Row) -> Rule:
    name = text(row, "eval_type", required=False) or "pass_and_fail"
    if name not in EVAL_TYPES:
        problem = f"{name!r} is not one of {', '.join(EVAL_TYPES)}"
        raise DataError(problem, instance=row_id(row), field="eval_type")
    return EVAL_TYPES[name]


def _published(row: Row) -> PublishedImage | None:
    image, script = text(row, "image", required=False), text(row, "eval_script", required=False)
    return PublishedImage(image=image, eval_script=script) if image and script else None
