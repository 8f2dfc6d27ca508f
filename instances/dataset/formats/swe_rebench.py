"""SWE-rebench rows: classic columns, an installation as a mapping, an image's name, models' ratings.

Those of the first version also list the tests that fail with the fix; its evaluator has SWE-bench's rule. Image and
test command are the environment; the installation of the image is only kept to be written back.
"""

import shlex
from collections.abc import Mapping
from typing import Any

from assay.harness.domain import UNKNOWN_TIME, DatasetRef, Instance, PublishedImage, Rule
from assay.instances.dataset.formats import columns
from assay.instances.dataset.formats.classic import CLASSIC, COLUMNS, classic_fields, classic_row
from assay.instances.dataset.formats.columns import Row, row_error, row_id
from assay.instances.dataset.formats.commands import CONDA, commands, make_published_image, test_files
from assay.instances.dataset.formats.languages import find_language
from assay.instances.dataset.formats.log_parsers import parser_name
from assay.instances.dataset.formats.rebench_parsers import find_parser, why_not

NAME = "swe-rebench"
RULES: tuple[Rule, ...] = (Rule.SWE_REBENCH, Rule.SWE_BENCH)
FIRST_VERSION = ("FAIL_TO_FAIL", "PASS_TO_FAIL")  # columns of the first version alone

INSTALL = "install_config"
PARSER = f"{INSTALL}.log_parser"

matches = columns.make_matcher(INSTALL, "pr_description")
find_id = row_id


def to_instance(row: Row, dataset: DatasetRef) -> Instance:
    """Read a row; one whose labels another parser made than Assay can follow is refused with the parser's name."""
    install = columns.mapping(row, INSTALL)
    named = columns.text({**row, PARSER: install.get("log_parser")}, PARSER, required=False)
    if problem := why_not(named):
        raise row_error(row, PARSER, problem)
    fields = classic_fields(row)
    parser = find_parser(named, (*fields["fail_to_pass"], *fields["pass_to_pass"]))
    first = any(column in row for column in FIRST_VERSION)
    image = (_first_image if first else _image)(row, install, parser.log_format)
    return columns.build(
        COLUMNS,
        **fields,
        language=find_language(row, columns.text(row, "patch"), columns.text(row, "test_patch")),
        environment=image,
        log_format=parser.log_format,
        test_id=parser.test_id,
        rule=Rule.SWE_BENCH if first else Rule.SWE_REBENCH,
        origin=columns.origin(NAME, row, CLASSIC),
        dataset=dataset,
    )


def from_instance(instance: Instance) -> dict[str, Any]:
    """Write an instance as a row, with its time in milliseconds; raises DataError if its tree is not a commit."""
    name = parser_name(instance.log_format, instance.test_id)
    parser = {"log_parser": name} if name else {}
    lists = dict.fromkeys(FIRST_VERSION, ()) if instance.rule is Rule.SWE_BENCH else {}
    row = {INSTALL: parser, **lists, **classic_row(instance), **columns.read_origin(instance, NAME)}
    if instance.created_at != UNKNOWN_TIME:
        row["created_at"] = round(instance.created_at.timestamp() * 1000)
    return row


def _image(row: Row, install: Mapping[str, Any], log_format: str) -> PublishedImage | None:
    tests = commands(row, f"{INSTALL}.test_cmd", install.get("test_cmd"))
    folder = f"/{columns.text(row, 'repo').rpartition('/')[2]}"
    return make_published_image(columns.text(row, "image_name", required=False), log_format, tests, folder=folder)


def _first_image(row: Row, install: Mapping[str, Any], log_format: str) -> PublishedImage | None:
    """Return the image of the first version, whose runner is given the files of the test patch."""
    image = columns.text(row, "docker_image", required=False) or columns.text(row, "image_name", required=False)
    installed, tests = (commands(row, f"{INSTALL}.{field}", install.get(field)) for field in ("install", "test_cmd"))
    files = shlex.join(test_files(columns.text(row, "test_patch")))
    return make_published_image(image, log_format, [f"{test} {files}" for test in tests], before=[*CONDA, *installed])
