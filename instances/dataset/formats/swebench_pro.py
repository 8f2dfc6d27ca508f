"""SWE-bench Pro rows: lower-case lists as Python literals, an image's tag, and a script and a parser by instance.

Script and parser are in ``run_scripts/<instance id>/`` beside the rows (``dataset.beside``), or columns of the row.
They run in the row's image alone.
"""

import ast
import json
import shlex
from typing import Any

from assay.harness.domain import DatasetRef, Instance, PublishedImage, Rule
from assay.harness.errors import DataError
from assay.instances.dataset.formats import columns
from assay.instances.dataset.formats.classic import COLUMNS as CLASSIC_COLUMNS
from assay.instances.dataset.formats.classic import classic_fields
from assay.instances.dataset.formats.columns import Row, row_id
from assay.instances.dataset.formats.languages import find_language

NAME = "swebench-pro"
RULES: tuple[Rule, ...] = (Rule.SWE_BENCH_PRO,)

OWN = ("before_repo_set_cmd", "selected_test_files_to_run", "dockerhub_tag")
SIGNS = (*OWN, "repo_language", "issue_specificity", "issue_categories")
"""Columns that only this dialect has."""
LABELS = ("fail_to_pass", "pass_to_pass")
COLUMNS = {**CLASSIC_COLUMNS, **{name: name for name in LABELS}, "language": "repo_language"}
HELD = frozenset({"instance_id", "repo", "base_commit", "patch", "test_patch", "hints_text", "created_at", *LABELS})
PARTS = {"requirements": "Requirements", "interface": "New interfaces introduced"}
"""Columns that the benchmark adds to the statement, and their headings."""

REGISTRY = "jefzda/sweap-images"
LONGEST_TAG = 128
UNNAMED = "-vnan"  # end of an id that its image's tag does not have

WORKDIR = "/app"
LOG_FORMAT = "parsed_json"
RUN = """\
at=$(mktemp -d) && printf %s "$1" > "$at/run_script.sh" && printf %s "$2" > "$at/parser.py" || exit 125
bash "$at/run_script.sh" "$3" > "$at/stdout.log" 2> "$at/stderr.log"
sed "s/^/| /" "$at/stdout.log" "$at/stderr.log"
python "$at/parser.py" "$at/stdout.log" "$at/stderr.log" "$at/output.json" | sed "s/^/| /"
printf "\\n{\\"parsed\\": " && cat "$at/output.json" && echo "}"
"""
"""Runs script and parser (its arguments, with the chosen tests as the third), and prints the parser's result.

Nothing else that is printed can be taken for it: every other line begins with a bar.
"""

matches = columns.make_matcher(*SIGNS)
find_id = row_id


def to_instance(row: Row, dataset: DatasetRef) -> Instance:
    """Read a row; its image, with script and parser if it has both, becomes the environment."""
    environment = _read_image(row)
    language = {**row, "language": columns.text(row, "repo_language", required=False)}
    classic = {**row, "problem_statement": _statement(row), "version": None}  # a version is no column of this dialect
    fields = classic_fields(classic, COLUMNS, parse=_literal, with_time=False)
    return columns.build(
        COLUMNS,
        **fields,
        language=find_language(language, fields["gold_patch"], fields["test_patch"]),
        environment=environment,
        log_format=LOG_FORMAT if environment else "",
        rule=RULES[0],
        origin=columns.origin(NAME, row, HELD),
        dataset=dataset,
    )


def from_instance(instance: Instance) -> dict[str, Any]:
    if not instance.base_commit:
        raise DataError("is missing: rows of this format need a commit", instance=instance.id, field="base_commit")
    kept = columns.read_origin(instance, NAME)
    own = {"problem_statement": instance.problem_statement, "repo_language": instance.language}
    return {
        **dict.fromkeys((*OWN, *PARTS), ""),
        "selected_test_files_to_run": "[]",
        **(kept or own),
        "repo": instance.repo,
        "instance_id": instance.id,
        "base_commit": instance.base_commit,
        "patch": instance.gold_patch,
        "test_patch": instance.test_patch,
        "hints_text": instance.hints,
        "fail_to_pass": repr(list(instance.fail_to_pass)),
        "pass_to_pass": repr(list(instance.pass_to_pass)),
        **columns.iso(instance),
    }


def read_image_name(row: Row) -> str:
    """Return the name of a row's image: its tag, or the one that repository and id make up, as for nearly all rows."""
    own = row_id(row).removeprefix("instance_").removesuffix(UNNAMED)
    made = f"{columns.text(row, 'repo').lower().replace('/', '.')}-{own}"[:LONGEST_TAG]
    return f"{REGISTRY}:{columns.text(row, 'dockerhub_tag', required=False) or made}"


def _literal(value: str) -> object:
    """Read a list in JSON, whose escapes of characters beyond 16 bits mean nothing in Python, or else in Python."""
    try:
        return json.loads(value)
    except ValueError:
        return ast.literal_eval(value)


def _statement(row: Row) -> str:
    parts = {heading: columns.text(row, column, required=False) for column, heading in PARTS.items()}
    added = (f"{heading}:\n{part}" for heading, part in parts.items())
    return "\n\n".join([columns.text(row, "problem_statement"), *(added if any(parts.values()) else ())])


def _read_image(row: Row) -> PublishedImage | None:
    script, parser = (columns.text(row, column, required=False) for column in ("run_script", "parser"))
    if not (script and parser):
        return None
    chosen = columns.names(row, "selected_test_files_to_run", _literal)
    last = columns.text(row, "before_repo_set_cmd", required=False).strip().rpartition("\n")[2]
    tests = shlex.join(["bash", "-c", RUN, "assay", script, parser, ",".join(chosen)])
    lines = [f"cd {WORKDIR}", last, ": '>>>>> Start Test Output'", tests, ": '>>>>> End Test Output'", ""]
    return PublishedImage(image=read_image_name(row), eval_script="\n".join(lines))
