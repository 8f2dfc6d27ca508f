"""What the message of a commit says: pull request, issues that it closes, and a statement of the problem. Pure."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import PurePosixPath

_MERGE = re.compile(r"Merge pull request #(\d+) from \S+[ \t]*\n*")
_SQUASH = re.compile(r"[ \t]*\(#(\d+)\)[ \t]*$")
_CLOSING = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?\s+"
    r"(?:(?P<repo>[\w.-]+/[\w.-]+)?#|GH-|https?://github\.com/(?P<linked>[\w.-]+/[\w.-]+)/issues/)(?P<number>\d+)\b",
    re.IGNORECASE,
)
"""GitHub's nine words; a reference without a repository is to the same one."""
_TRAILER = re.compile(
    r"[a-z]+(?:-[a-z]+)+: .*@.*|change-id: .*|\(cherry picked from .*|for more information, see https://pre-commit.ci"
    r"|-{5,}",
    re.IGNORECASE,
)
_COMMIT_OF_A_SQUASH = re.compile(r"\* ")
_FENCE = re.compile(r"(?ms)^(```|~~~).*?^\1[ \t]*$\n?")
_BLANKS = re.compile(r"\n{3,}")


def pull_request(message: str) -> int:
    """Return the number of the pull request that a message names as GitHub writes it; 0 if it names none."""
    merge = _MERGE.match(message)
    squash = _SQUASH.search(message.partition("\n")[0])
    found = merge or squash
    return int(found[1]) if found else 0


def find_closed_issues(messages: Iterable[str], repo: str) -> tuple[int, ...]:
    """Return the numbers of the repository's issues that messages close, sorted."""
    found = (match for message in messages for match in _CLOSING.finditer(message))
    own = (match for match in found if (match["repo"] or match["linked"] or repo).lower() == repo.lower())
    return tuple(sorted({int(match["number"]) for match in own}))


def statement(message: str, merged: Sequence[str], paths: Collection[str]) -> str:
    """Return a message as a statement of the problem; a merge without a title has that of the first commit it merged.

    Left out are what GitHub adds, closing words, trailers, the list of commits of a squash, code blocks, and
    lines that name a changed file (``paths``): they describe the fix.
    """
    text = _MERGE.sub("", message, count=1).strip()
    if not text and merged:
        text = merged[0]
    title, _, body = text.partition("\n")
    lines = [_SQUASH.sub("", title).strip(), "", *_keep_lines(_FENCE.sub("", body), paths)]
    return _BLANKS.sub("\n\n", "\n".join(map(_drop_closing, lines))).strip()


def _drop_closing(line: str) -> str:
    """Return a line without closing words; empty if nothing but signs is left of it."""
    left, times = _CLOSING.subn("", line)
    return left.strip(" \t:;,-") if times and re.search(r"\w", left) else "" if times else line


def _keep_lines(body: str, paths: Collection[str]) -> Iterator[str]:
    names = {name for path in paths for name in (path, PurePosixPath(path).name)}
    for line in body.splitlines():
        describes_the_fix = _COMMIT_OF_A_SQUASH.match(line) or any(name in line for name in names)
        if not describes_the_fix and not _TRAILER.fullmatch(line.strip()):
            yield line.rstrip()
