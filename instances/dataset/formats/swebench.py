"""SWE-bench rows: classic ones (Full, Lite, Verified, Multilingual, Multimodal), and 5.x with image and script."""

from typing import Any

from assay.harness.domain import DatasetRef, Instance, PublishedImage, RowScript, Rule
from assay.instances.dataset.formats import assets, columns
from assay.instances.dataset.formats.classic import CLASSIC, COLUMNS, classic_fields, classic_row
from assay.instances.dataset.formats.columns import Row, row_error, row_id
from assay.instances.dataset.formats.languages import find_language
from assay.instances.dataset.formats.log_parsers import PARSERS, UNKNOWN, LogParser, parser_name, parser_named

NAME = "swebench"

EVAL_TYPES = {"pass_and_fail": Rule.SWE_BENCH, "fail_only": Rule.SWE_BENCH_FAIL_ONLY}
RULES: tuple[Rule, ...] = tuple(EVAL_TYPES.values())

HELD = CLASSIC | {"log_parser", "eval_type", "image", "eval_script"}

matches = columns.make_matcher("FAIL_TO_PASS", "test_patch", "base_commit")
find_id = row_id


def to_instance(row: Row, dataset: DatasetRef) -> Instance:
    """Read a row; its image and script, if it has both, become the environment."""
    image, script = columns.text(row, "image", required=False), columns.text(row, "eval_script", required=False)
    environment = PublishedImage(image=image, eval_script=script) if image and script else None
    own = RowScript(eval_script=script) if script else None
    parser = find_parser(row)
    synonym = row.get("log_parser") not in {None, parser_name(*parser[:2])}
    return columns.build(
        COLUMNS,
        **classic_fields(row, with_time=environment is None),
        language=_language(row, parser),
        environment=environment or own,
        log_format=parser.log_format,
        test_id=parser.test_id,
        rule=_rule(row),
        assets=assets.read(row),
        origin=columns.origin(NAME, row, HELD - {"log_parser"} if synonym else HELD),
        dataset=dataset,
    )


def from_instance(instance: Instance) -> dict[str, Any]:
    eval_type = next((name for name, rule in EVAL_TYPES.items() if rule is instance.rule), "")
    row: dict[str, Any] = {"log_parser": parser_name(instance.log_format, instance.test_id), "eval_type": eval_type}
    row |= classic_row(instance) | columns.read_origin(instance, NAME)
    if instance.assets and assets.COLUMN not in row:
        row[assets.COLUMN] = assets.write(instance.assets)
    if isinstance(instance.environment, PublishedImage | RowScript):
        row |= instance.environment.model_dump(include={"image", "eval_script"})
    return row


def find_parser(row: Row) -> LogParser:
    """Return the parser of a row's labels.

    Classic rows have no such column, but 5.x named parsers after repositories. An empty column means unknown.
    """
    given = columns.text(row, "log_parser", required=False)
    if given or row.get("log_parser") == "":
        return parser_named(given)
    own = PARSERS.get(columns.text(row, "repo").rpartition("/")[2], UNKNOWN)
    python = not own.log_format and _language(row, own) == "python"
    return PARSERS["pytest"] if python else own


def _language(row: Row, parser: LogParser) -> str:
    return find_language(row, columns.text(row, "patch"), columns.text(row, "test_patch"), log_parser=parser.language)


def _rule(row: Row) -> Rule:
    name = columns.text(row, "eval_type", required=False) or "pass_and_fail"
    if name not in EVAL_TYPES:
        raise row_error(row, "eval_type", f"{name!r} is not one of {', '.join(EVAL_TYPES)}")
    return EVAL_TYPES[name]
