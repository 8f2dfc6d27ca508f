"""SWE-bench-Live rows: classic columns, an image, commands, and a log parser by name or as program text.

Image and commands are the environment of rows that name a parser. The program is only kept to be written back; it is
never run.
"""

from typing import Any

from assay.harness.domain import DatasetRef, Instance, PublishedImage, Rule
from assay.instances.dataset.formats import columns
from assay.instances.dataset.formats.classic import CLASSIC, COLUMNS, classic_fields, classic_row
from assay.instances.dataset.formats.columns import Row, row_id
from assay.instances.dataset.formats.commands import commands, make_published_image
from assay.instances.dataset.formats.languages import find_language
from assay.instances.dataset.formats.log_parsers import UNKNOWN, LogParser, parser_name, parser_named

NAME = "swebench-live"
RULES: tuple[Rule, ...] = (Rule.SWE_BENCH_LIVE,)

PARSERS = ("log_parser", "parser")
COMMANDS = ("rebuild_cmds", "test_cmds", "print_cmds")
IMAGE = "starryzhang/sweb.eval.x86_64."
"""Begin of the name of an image that a row does not name; the end is the id."""

matches = columns.make_matcher(*COMMANDS)
find_id = row_id


def to_instance(row: Row, dataset: DatasetRef) -> Instance:
    """Read a row; its log format is known if it names a parser, not if it has a program."""
    parser = _parser(row)
    return columns.build(
        COLUMNS,
        **classic_fields(row),
        language=find_language(row, columns.text(row, "patch"), columns.text(row, "test_patch")),
        environment=_read_image(row, parser.log_format),
        log_format=parser.log_format,
        test_id=parser.test_id,
        rule=RULES[0],
        origin=columns.origin(NAME, row, CLASSIC),
        dataset=dataset,
    )


def from_instance(instance: Instance) -> dict[str, Any]:
    row = columns.read_origin(instance, NAME)
    if not row:
        row = {field: [] for field in COMMANDS}
        if instance.log_format:
            row["log_parser"] = parser_name(instance.log_format, instance.test_id)
    return classic_row(instance) | row


def _read_image(row: Row, log_format: str) -> PublishedImage | None:
    rebuild, tests, shown = (commands(row, field, row.get(field)) for field in COMMANDS)
    image = columns.text(row, "docker_image", required=False) or IMAGE + columns.text(
        row, "instance_id"
    ).lower().replace("__", "_1776_")
    together = ["; ".join([*tests, *shown])] if tests else []
    return make_published_image(image, log_format, together, before=rebuild)


def _parser(row: Row) -> LogParser:
    """Return the parser that a row names; ``UNKNOWN`` if the row has a program instead."""
    given = (columns.text(row, field, required=False).strip() for field in PARSERS)
    names = [name for name in given if name and "\n" not in name and " " not in name]
    return parser_named(names[0]) if names else UNKNOWN
