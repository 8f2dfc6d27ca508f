"""Derives the patches and the statement of an instance from two releases of a package, when a data set is loaded.

Such a data set holds only facts: names, versions, hashes, labels.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from typing import Literal

from pydantic import Field, ValidationError

from assay.harness.domain import Archive, Model, Sha256, TreeRef
from assay.harness.errors import DataError, EnvironmentFailure, UserError, field_error
from assay.harness.languages import Language, find
from assay.instances.dataset.formats.columns import Row, text
from assay.instances.trees.content import TreeEntry, read_tar
from assay.instances.trees.diff import part_source, split_diff
from assay.instances.trees.indexes import INDEXES, WrongArchive
from assay.instances.trees.sources import Sources

NOISE = (".github/*", "doc/*", "docs/*", "CHANGE*", "HISTORY*", "NEWS*", "README*")
"""Patterns of files that releases change beside the fix; each index adds its ``PACKAGING``."""


class Release(Model):
    version: str
    sha256: Sha256


class Statement(Model):
    """The part of a change log that serves as problem statement."""

    file: str
    heading: str = ""
    """Text in the section's heading; if empty, the new version."""
    added: bool = False
    """Take the lines that the new release adds to the file, for a log whose headings cannot be read."""


class Derivation(Model):
    """The ``derive`` mapping of a task, in place of its patches."""

    index: Literal["pypi", "go", "crates", "npm"] = "pypi"
    name: str
    old: Release = Field(alias="from")
    new: Release = Field(alias="to")
    ignore: tuple[str, ...] | None = None
    """Patterns of paths that both patches leave out (``*`` matches ``/`` too); by default ``NOISE`` and the index's."""
    statement: Statement | None = None
    """None for a task with its own problem.md."""

    def archive(self, release: Release) -> Archive:
        return Archive(index=self.index, name=self.name, version=release.version, sha256=release.sha256)

    def ignore_patterns(self) -> tuple[str, ...]:
        """Return the patterns of paths that are left out of both patches."""
        return (*NOISE, *INDEXES[self.index].PACKAGING) if self.ignore is None else self.ignore


@dataclass(frozen=True, slots=True)
class Derived:
    gold_patch: str
    test_patch: str
    problem_statement: str
    """Empty if the task has its own."""


def fill(row: Row, sources: Sources) -> Row:
    """Return a row with ``derive`` replaced by patches and statement; raises DataError, or EnvironmentFailure."""
    if "derive" not in row:
        return row
    instance = text(row, "instance_id")
    spec = _read(row, instance)
    try:
        derived = derive(spec, sources, text(row, "language", required=False) or "python")
    except DataError as error:
        raise DataError(error.problem, instance=instance, field=error.field) from None
    except EnvironmentFailure as error:
        problem = f"{instance}: {error.problem}"
        raise EnvironmentFailure(problem, log_path=error.log_path, tail=error.tail, cause=error.cause) from error
    return {
        **{key: value for key, value in row.items() if key != "derive"},
        "archive": spec.archive(spec.old),
        "gold_patch": derived.gold_patch,
        "test_patch": derived.test_patch,
        "problem_statement": derived.problem_statement or row["problem_statement"],
    }


def _read(row: Row, instance: str) -> Derivation:
    """Return a row's ``derive``; raises DataError."""
    try:
        spec = Derivation.model_validate(row["derive"])
    except ValidationError as error:
        wrong = field_error(error, instance=instance)
        raise DataError(wrong.problem, instance=instance, field=f"derive.{wrong.field}") from None
    stated = bool(text(row, "problem_statement", required=False).strip())
    if stated is (spec.statement is not None):
        problem = "is given beside a problem.md" if stated else "is missing, and there is no problem.md"
        remedy = "write the problem there, or name a section of the change log here"
        raise DataError(f"{problem}; {remedy}", instance=instance, field="derive.statement")
    return spec


def derive(spec: Derivation, sources: Sources, language: str) -> Derived:
    """Compare two releases: changed test files make the test patch, other files that are not ignored the gold patch.

    The same archives give the same bytes on every machine. Raises as ``fill``.
    """
    known = _language(language)
    old, new = _entries(sources, spec, "from"), _entries(sources, spec, "to")
    kept, kept_new = ([each for each in tree if not _matches(each.path, spec.ignore_patterns())] for tree in (old, new))
    gold, test = split_diff(kept, kept_new, known.is_test_file, partial(part_source, known.LINES))
    return Derived(gold_patch=gold, test_patch=test, problem_statement=_statement(spec, old, new))


def _language(name: str) -> Language:
    try:
        return find(name)
    except UserError as error:
        raise DataError(str(error), field="language") from None


def _statement(spec: Derivation, old: Iterable[TreeEntry], new: Iterable[TreeEntry]) -> str:
    """Return the section of the new release's change log; empty if the task has its own statement."""
    if spec.statement is None:
        return ""
    log = read_text(new, spec.statement.file)
    if spec.statement.added:
        found = find_added_lines(read_text(old, spec.statement.file), log)
    else:
        found = section(log, spec.statement.heading or spec.new.version, spec.old.version)
    if not found:
        lacks = (
            "adds nothing" if spec.statement.added else f"has no section {spec.statement.heading or spec.new.version!r}"
        )
        problem = f"{spec.statement.file} of {spec.name} {spec.new.version} {lacks}; set heading"
        raise DataError(problem, field="derive.statement")
    return found


def read_text(tree: Iterable[TreeEntry], path: str) -> str:
    """Return the text of a file of a tree; empty if there is none."""
    return next((entry.content for entry in tree if entry.path == path), b"").decode(errors="replace")


def find_added_lines(old: str, new: str) -> str:
    """Return the lines of a text that an older one lacks anywhere, with the empty lines between them."""
    known = set(old.splitlines())
    kept = [line for line in new.splitlines() if line not in known or not line.strip()]
    joined = re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in kept)).strip()
    return f"{joined}\n" if joined else ""


def section(log: str, heading: str, end: str) -> str:
    """Return the part of a change log from the heading with ``heading`` up to the one with ``end``; empty if none.

    A heading is a line that begins with ``#`` or is underlined with ``=``, ``-``, ``~`` or ``^``.
    """
    lines = log.splitlines()
    start = next((number for number, _ in _headings(lines, heading)), None)
    if start is None:
        return ""
    stop = next((number for number, _ in _headings(lines, end) if number > start), len(lines))
    return "\n".join(lines[start:stop]).strip() + "\n"


def _headings(lines: Sequence[str], wanted: str) -> Iterable[tuple[int, str]]:
    whole = re.compile(rf"(?<![\w.])v?{re.escape(re.sub(r'^v(?=[0-9])', '', wanted))}(?![\w]|\.\d)")
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        underlined = re.fullmatch(r"([=~^-])\1{2,}\s*", below)
        if whole.search(line) and (line.startswith("#") or underlined):
            yield number, line


def _entries(sources: Sources, spec: Derivation, side: Literal["from", "to"]) -> list[TreeEntry]:
    """Return the tree of one of the two releases; an error names the wrong field of ``derive``."""
    archive = spec.archive(spec.old if side == "from" else spec.new)
    try:
        return list(read_tar(sources.tree(TreeRef(repo=spec.name, archive=archive))))
    except WrongArchive as error:
        field = "name" if error.field == "name" else f"{side}.{error.field}"
        raise DataError(error.problem, field=f"derive.{field}") from error
    except EnvironmentFailure as error:
        problem = f"field derive.{side}: {error.problem}; check the release's name, and that the index can be reached"
        raise EnvironmentFailure(problem, log_path=error.log_path, tail=error.tail, cause=error.cause) from error


def _matches(path: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)
