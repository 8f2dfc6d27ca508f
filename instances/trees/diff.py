"""The difference of two trees as git patches that are the same bytes on every machine."""

import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from assay.harness.errors import DataError, EnvironmentFailure
from assay.instances.trees.content import TreeEntry, last_line
from assay.instances.trees.sources import git_env

DIFF = (
    *("-c", "core.quotePath=true", "-c", "diff.suppressBlankEmpty=false", "--literal-pathspecs"),
    *("diff", "--binary", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--diff-algorithm=myers"),
    *("--indent-heuristic", "--unified=3", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/"),
)
"""A diff that ignores the user's settings."""

OLD, NEW = "refs/assay/old", "refs/assay/new"


def split_diff(old: Iterable[TreeEntry], new: Iterable[TreeEntry], chosen: Callable[[str], bool]) -> tuple[str, str]:
    """Return two patches from one tree to another: without the chosen paths, and with only those.

    Raises DataError if a change is neither UTF-8 text nor binary in git's eyes.
    """
    with tempfile.TemporaryDirectory(prefix="assay-diff-") as folder:
        repo = Path(folder)  # its HEAD is unborn, so that the trees' own attributes cannot change the diff
        _git(repo, "init", "--quiet", "--bare", "--template=", str(repo))
        _git(repo, "fast-import", "--quiet", stdin=b"".join([*_commit(OLD, old), *_commit(NEW, new)]))
        changed = _git(repo, *DIFF, "--name-only", "-z", OLD, NEW).decode().split("\0")[:-1]
        apart = {path for path in changed if chosen(path)}
        rest = _diff(repo, [path for path in changed if path not in apart])
        return rest, _diff(repo, [path for path in changed if path in apart])


def _commit(ref: str, entries: Iterable[TreeEntry]) -> list[bytes]:
    head = f"commit {ref}\ncommitter assay <assay> 1000000000 +0000\ndata 0\n".encode()
    return [head, *(_modify(entry) for entry in entries), b"\n"]


def _modify(entry: TreeEntry) -> bytes:
    quoted = entry.path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'M {entry.mode:o} inline "{quoted}"\ndata {len(entry.content)}\n'.encode() + entry.content + b"\n"


def _diff(repo: Path, paths: Sequence[str]) -> str:
    if not paths:
        return ""
    patch = _git(repo, *DIFF, "--full-index", OLD, NEW, "--", *paths)
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
