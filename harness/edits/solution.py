"""The answer of SWE-RL (arXiv 2502.18449): a thought, and a solution of search-and-replace edits that fit exactly.

``<think>...</think><solution>...</solution>``, and in the solution a line ``### path`` before its blocks.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from assay.harness.edits.edit_grammars import parse_search_replace
from assay.harness.edits.file_edits import FileEdit, apply_edits
from assay.harness.patches.diff import MalformedPatchError
from assay.harness.patches.gate import check_path
from assay.harness.templates import read_table

TAGS = ("<think>", "</think>", "<solution>", "</solution>")
_TAGGED = re.compile(r"<think>(?P<thought>.*)</think>.*<solution>(?P<solution>.*)</solution>", re.DOTALL)
TEXTS: dict[str, str] = read_table(__file__)

ReadText = Callable[[str], str | None]
"""Returns the text of a file at the base commit by its path; None if there is no such file, or no text in it."""


class WrongAnswerError(ValueError):
    """An answer breaks the grammar, does not apply, or changes nothing; the message says how."""


def make_prompt(repo: str, issue: str, files: str, fence: str) -> str:
    """Return the message that asks for such an answer, behind the system's message of ``TEXTS``.

    ``files`` are the files to show, as ``show_file`` writes them; ``fence`` is the word behind a fence.
    """
    return TEXTS["user"].format(repo=repo, issue=issue.strip(), files=files, fence=fence)


def show_file(path: str, text: str) -> str:
    return f"### {path}\n```\n{text}\n```"


def read_solution(answer: str) -> str:
    """Return the text of an answer's solution; raises WrongAnswerError for tags that are not there once each."""
    for tag in TAGS:
        if (times := answer.count(tag)) != 1:
            raise WrongAnswerError(f"{tag} stands there {times} times; it has to once")
    found = _TAGGED.search(answer)
    if found is None:
        raise WrongAnswerError(f"the tags have another order than {' '.join(TAGS)}")
    if not found["thought"].strip():
        raise WrongAnswerError("the thought is empty")
    return found["solution"]


def read_edits(text: str) -> tuple[FileEdit, ...]:
    """Read the edits of a solution; raises WrongAnswerError if there is none, or if one is malformed."""
    parsed = parse_search_replace(text)
    if parsed.problems:
        raise WrongAnswerError("; ".join(parsed.problems))
    if not parsed.edits:
        raise WrongAnswerError("there is no search-and-replace block")
    return parsed.edits


def change_texts(edits: Sequence[FileEdit], read_text: ReadText) -> tuple[dict[str, str], dict[str, str]]:
    """Apply edits to files of the base commit, each in every place that has its lines.

    Returns:
        The texts of the changed files by path, before and after; a new file is not among the former.

    Raises:
        WrongAnswerError: an edit does not apply, or changes nothing, or all of them together change nothing.
        Whatever ``read_text`` raises.
    """
    paths = dict.fromkeys(edit.path for edit in edits)
    for path in paths:
        _check_name(path)
    before = {path: text for path in paths if (text := read_text(path)) is not None}
    applied = apply_edits(before, edits, exactly=True)
    if applied.failed:
        raise WrongAnswerError("; ".join(map(str, applied.failed)))
    if not applied.files:
        raise WrongAnswerError("the edits together change nothing")
    return {path: before[path] for path in applied.files if path in before}, dict(applied.files)


def _check_name(path: str) -> None:
    """Raise WrongAnswerError for a path that no patch may have, or that is spelled as git spells none."""
    try:
        check_path(path.encode(errors="surrogatepass"))
    except MalformedPatchError as error:
        raise WrongAnswerError(str(error)) from None
    if str(PurePosixPath(path)) != path:
        raise WrongAnswerError(f"path {path[:80]!r} is not a file's path from the top folder")
