"""The image of rows that name one, in a column or by a rule, beside commands and not a whole script.

The script is made of the row's own commands, as the benchmark's evaluator makes it, and read as any (``environments``).
"""

from collections.abc import Sequence
from typing import Any

from assay.harness.domain import PublishedImage
from assay.harness.errors import brief
from assay.harness.languages import find_or_none
from assay.harness.patches.diff import MalformedPatchError, paths_after
from assay.harness.reports import FORMATS
from assay.instances.dataset.formats.columns import Row, row_error

START, END = ": '>>>>> Start Test Output'", ": '>>>>> End Test Output'"
CONDA = ("source /opt/miniconda3/bin/activate", "conda activate testbed")
TESTBED = "/testbed"
NO_TESTS = (".json", ".png", "csv", ".txt", ".md", ".jpg", ".jpeg", ".pkl", ".yml", ".yaml", ".toml")
"""Ends of files of a test patch that SWE-bench's evaluators never give to the runner."""


def make_published_image(
    image: str, log_format: str, tests: Sequence[str], *, folder: str = TESTBED, before: Sequence[str] = ()
) -> PublishedImage | None:
    """Return an image with a script; None if the row names no image or tests, or its log cannot be read.

    Of several tests, the first that fails ends all; the commands ``before`` them set up the shell, install or build.
    """
    if not image or not tests or log_format not in FORMATS:
        return None
    together = [*(["set -e"] if len(tests) > 1 else []), *tests]
    return PublishedImage(image=image, eval_script="\n".join([f"cd {folder}", *before, START, *together, END, ""]))


def find_log_format(language: str) -> str:
    """Return the usual log format of a language, for rows that name no parser; empty for no language of Assay."""
    known = find_or_none(language)
    return known.DEFAULT_LOG if known else ""


def commands(row: Row, field: str, value: Any) -> list[str]:
    """Return a column, or a part of one, that is a shell command or a list of them, without empty ones."""
    if value is None:
        return []
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(command, str) for command in listed):
        raise row_error(row, field, f"is {brief(value)}; write a list of shell commands")
    return [command for command in listed if command.strip()]


def test_files(test_patch: str) -> list[str]:
    """Return the files of a test patch that SWE-bench's evaluators give to the runner; none of a malformed one."""
    return [path for path in list_files_after(test_patch) if not path.endswith(NO_TESTS)]


def list_files_after(patch: str) -> tuple[str, ...]:
    """Return the files of a patch that are there after it; none of a malformed one."""
    try:
        return paths_after(patch)
    except MalformedPatchError:
        return ()
