"""Patches and statement of an instance, derived from two releases of a package when the data set is loaded.

So a data set can hold facts alone (names, versions, hashes, labels) and works wherever the package index does.
"""

import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from assay.harness.domain import Archive, Model, Sha256, TreeRef
from assay.harness.errors import DataError, EnvironmentFailure
from assay.harness.languages import LANGUAGES
from assay.instances.formats.base import Row, text, wrong_field
from assay.instances.sources import Sources, git_env
from assay.instances.trees import Entry, last_line, read_tar

IGNORE = (
    "*.egg-info/*",
    "PKG-INFO",
    "doc/*",
    "docs/*",
    "requirements/*",
    "CHANGE*",
    "HISTORY*",
    "NEWS*",
    "README*",
)
"""What a release changes beside the fix: generated metadata, documentation, pins of the developers' tools.

Build files (pyproject.toml, setup.cfg ...) stay in the gold patch, for they may set the test runner up.
"""

DIFF = (
    *("-c", "core.quotePath=true", "-c", "diff.suppressBlankEmpty=false", "--literal-pathspecs"),
    *("diff", "--binary", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--diff-algorithm=myers"),
    *("--indent-heuristic", "--unified=3", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/"),
)
"""A diff that no setting of the user changes."""

OLD, NEW = "refs/assay/old", "refs/assay/new"


class Release(Model):
    """One release of the package."""

    version: str
    sha256: Sha256


class Statement(Model):
    """The section of a change log that tells what the new release mends."""

    file: str
    heading: str = ""
    """Text in the section's heading; the new version when empty."""


class Derivation(Model):
    """What a task says in place of its patches."""

    index: Literal["pypi"] = "pypi"
    name: str
    old: Release = Field(alias="from")
    new: Release = Field(alias="to")
    ignore: tuple[str, ...] = IGNORE
    """Patterns of paths, in which ``*`` matches ``/`` too, that are left out of both patches."""
    statement: Statement

    def archive(self, release: Release) -> Archive:
        """Return the archive of one of the two releases."""
        return Archive(index=self.index, name=self.name, version=release.version, sha256=release.sha256)


@dataclass(frozen=True, slots=True)
class Derived:
    """What comes out."""

    gold_patch: str
    test_patch: str
    problem_statement: str


def fill(row: Row, sources: Sources) -> Row:
    """Return a row with ``derive`` carried out; a row without it as it is.

    Raises:
        DataError: the derivation is written wrongly, or its change log has no such section.
        EnvironmentFailure: an archive cannot be had.
    """
    if "derive" not in row:
        return row
    instance = text(row, "instance_id")
    try:
        spec = Derivation.model_validate(row["derive"])
    except ValidationError as error:
        wrong = wrong_field(error, instance, {})
        raise DataError(wrong.problem, instance=instance, field=f"derive.{wrong.field}") from None
    language = text(row, "language", required=False) or "python"
    derived = derive(spec, sources, language)
    if not derived.problem_statement:
        heading = spec.statement.heading or spec.new.version
        problem = f"{spec.statement.file} of {spec.name} {spec.new.version} has no section {heading!r}"
        raise DataError(problem, instance=instance, field="derive.statement")
    rest = {key: value for key, value in row.items() if key != "derive"}
    return {
        **rest,
        "archive": spec.archive(spec.old),
        "gold_patch": derived.gold_patch,
        "test_patch": derived.test_patch,
        "problem_statement": derived.problem_statement,
    }


def derive(spec: Derivation, sources: Sources, language: str) -> Derived:
    """Compare two releases: tests make the test patch, all else that is not ignored the gold patch.

    The same archives give the same bytes on every machine. The statement is empty when the log has no such section.
    """
    old, new = (_entries(sources, spec, release) for release in (spec.old, spec.new))
    kept = [entry for entry in old if not _matches(entry.path, spec.ignore)]
    kept_new = [entry for entry in new if not _matches(entry.path, spec.ignore)]
    with tempfile.TemporaryDirectory(prefix="assay-derive-") as folder:
        repo = Path(folder)
        _import_trees(repo, kept, kept_new)
        changed = _git(repo, *DIFF, "--name-only", "-z", OLD, NEW).decode().split("\0")[:-1]
        tests = {path for path in changed if LANGUAGES[language].is_test_file(path)}
        gold = _diff(repo, [path for path in changed if path not in tests])
        test = _diff(repo, [path for path in changed if path in tests])
    log = next((entry.content for entry in new if entry.path == spec.statement.file), b"").decode(errors="replace")
    statement = section(log, spec.statement.heading or spec.new.version, spec.old.version)
    return Derived(gold_patch=gold, test_patch=test, problem_statement=statement)


def section(log: str, heading: str, end: str) -> str:
    """Return the part of a change log from the heading that holds one text to the heading that holds another.

    A heading is a line that begins with ``#`` or that a line of ``=``, ``-``, ``~`` or ``^`` underlines.
    """
    lines = log.splitlines()
    start = next((number for number, _ in _headings(lines, heading)), None)
    if start is None:
        return ""
    stop = next((number for number, _ in _headings(lines, end) if number > start), len(lines))
    return "\n".join(lines[start:stop]).strip() + "\n"


def _headings(lines: Sequence[str], wanted: str) -> Iterable[tuple[int, str]]:
    whole = re.compile(rf"(?<![\w.]){re.escape(wanted)}(?![\w]|\.\d)")
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        underlined = re.fullmatch(r"([=~^-])\1{2,}\s*", below)
        if whole.search(line) and (line.startswith("#") or underlined):
            yield number, line


def _entries(sources: Sources, spec: Derivation, release: Release) -> list[Entry]:
    archive = spec.archive(release)
    return list(read_tar(sources.tree(TreeRef(repo=spec.name, archive=archive))))


def _matches(path: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def _import_trees(repo: Path, old: Iterable[Entry], new: Iterable[Entry]) -> None:
    """Store two trees in a new repository whose HEAD is unborn, so that no attributes of theirs change the diff."""
    _git(repo, "init", "--quiet", "--bare", "--template=", str(repo))
    _git(repo, "fast-import", "--quiet", stdin=b"".join([*_commit(OLD, old), *_commit(NEW, new)]))


def _commit(ref: str, entries: Iterable[Entry]) -> list[bytes]:
    head = f"commit {ref}\ncommitter assay <assay> 1000000000 +0000\ndata 0\n".encode()
    return [head, *(_modify(entry) for entry in entries), b"\n"]


def _modify(entry: Entry) -> bytes:
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
