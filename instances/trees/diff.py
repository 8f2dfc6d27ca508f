"""The difference of two trees as git patches that are the same bytes on every machine."""

import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from assay.harness.errors import DataError, EnvironmentFailure
from assay.harness.languages.base import Lines
from assay.instances.trees.content import FILE, TreeEntry, last_line
from assay.instances.trees.sources import git_env

DIFF = (
    *("-c", "core.quotePath=true", "-c", "diff.suppressBlankEmpty=false", "--literal-pathspecs"),
    *("diff", "--binary", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--diff-algorithm=myers"),
    *("--indent-heuristic", "--unified=3", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/"),
)
"""A diff that ignores the user's settings."""

OLD, NEW, TESTED = "refs/assay/old", "refs/assay/new", "refs/assay/tested"
Parts = Callable[[bytes, bytes], tuple[bytes, bytes] | None]


def part_source(lines: Lines, old: bytes, new: bytes) -> tuple[bytes, bytes] | None:
    """Return the new version of a source without its new tests, and the old one with them; None if no test changes."""
    before, after = (text.decode(errors="surrogateescape") for text in (old, new))
    parts = lines.keep_tests(before, after), lines.keep_tests(after, before)
    if not lines.tests_inside or parts[1] == before:
        return None
    return parts[0].encode(errors="surrogateescape"), parts[1].encode(errors="surrogateescape")


def diff_texts(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return the patch from some files to others, given as texts by path; raises EnvironmentFailure."""
    old, new = ([TreeEntry(path, FILE, text.encode()) for path, text in side.items()] for side in (before, after))
    return split_diff(old, new, lambda _path: False)[0]


def split_diff(
    old: Iterable[TreeEntry], new: Iterable[TreeEntry], chosen: Callable[[str], bool], part: Parts | None = None
) -> tuple[str, str]:
    """Return two patches from one tree to another: without the chosen paths, and with only those; raises DataError.

    A source that ``part`` parts is in both.
    """
    before, fixed, tested = {entry.path: entry for entry in old}, list[TreeEntry](), list[TreeEntry]()
    for entry in new:
        base = before.get(entry.path)
        parts = part(base.content, entry.content) if part and base and not chosen(entry.path) else None
        fixed.append(replace(entry, content=parts[0]) if parts else entry)
        if parts or chosen(entry.path):
            tested.append(replace(entry, content=parts[1]) if parts else entry)
    with_tests = {entry.path for entry in tested} | {path for path in before if chosen(path)}
    tested += [entry for path, entry in before.items() if path not in with_tests]
    with tempfile.TemporaryDirectory(prefix="assay-diff-") as folder:
        repo = Path(folder)  # its HEAD is unborn, so that the trees' own attributes cannot change the diff
        _git(repo, "init", "--quiet", "--bare", "--template=", str(repo))
        trees = {OLD: before.values(), NEW: fixed, TESTED: tested}
        commits = (line for ref, entries in trees.items() for line in _commit(ref, entries))
        _git(repo, "fast-import", "--quiet", stdin=b"".join(commits))
        changed = _git(repo, *DIFF, "--name-only", "-z", OLD, NEW).decode().split("\0")[:-1]
        return _diff(repo, NEW, [path for path in changed if not chosen(path)]), _diff(repo, TESTED)


def _commit(ref: str, entries: Iterable[TreeEntry]) -> list[bytes]:
    head = f"commit {ref}\ncommitter assay <assay> 1000000000 +0000\ndata 0\n".encode()
    return [head, *(_modify(entry) for entry in entries), b"\n"]


def _modify(entry: TreeEntry) -> bytes:
    quoted = entry.path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'M {entry.mode:o} inline "{quoted}"\ndata {len(entry.content)}\n'.encode() + entry.content + b"\n"


def _diff(repo: Path, new: str, paths: Sequence[str] = ("",)) -> str:
    if not paths:
        return ""
    patch = _git(repo, *DIFF, "--full-index", OLD, new, "--", *filter(None, paths))
    try:
        return patch.decode()
    except UnicodeDecodeError as error:
        near = patch[: error.start].rpartition(b"diff --git ")[2].split(b"\n")[0].decode(errors="replace")
        raise DataError(f"the change of {near} is not UTF-8; add it to `ignore`", field="derive.ignore") from None


def _git(repo: Path, *args: str, stdin: bytes = b"") -> bytes:
    env = git_env() | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_DIR": str(repo)}
    done = subprocess.run(["git", *args], input=stdin, capture_output=True, env=env, cwd=repo, check=False)
    if done.returncode:
        raise EnvironmentFailure(f"git {args[0]} failed while patches were derived: {last_line(done.stderr)}")
    return done.stdout
