"""Patches that pass an instance's tests and yet are wrong, and patches that differ from gold and yet are right.

They are the evaluation set of PatchDiff. A case has its patch as edits of the base tree or of the fixed tree, with
anchors of a few words, so that nothing of the projects themselves is kept here.
"""

import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from assay.harness.domain import Instance, Model
from assay.harness.errors import UserError
from assay.instances.trees.content import read_tar
from assay.instances.trees.sources import Sources, git_env, tree_ref
from corpus.model import diff

FILE = Path(__file__).with_name("cases.jsonl")
"""One case a line."""

Files = Mapping[str, str]
"""Path to text."""

WrongKind = Literal["regression", "partial_fix", "over_broad", "hard_coded", "changed_neighbour"]
RightKind = Literal["other_algorithm", "renamed", "reordered", "inlined", "extracted", "other_structure"]


class Edit(Model):
    """One replacement in one file."""

    path: str
    find: str
    """A few words that occur in the file just ``count`` times."""
    until: str = ""
    """What is replaced goes on to the end of the first of these words after ``find``; to the end of ``find`` itself
    when empty."""
    replace: str
    count: int = Field(default=1, ge=1)

    def apply(self, text: str) -> str:
        """Return the edited text.

        Raises:
            ValueError: an anchor is not there, or not as often as it has to be; says which.
        """
        found = text.count(self.find)
        if found != self.count:
            raise ValueError(f"{self.path} has {self.find!r} {found} times, not {self.count}")
        if not self.until:
            return text.replace(self.find, self.replace)
        parts = text.split(self.find)
        if not all(self.until in part for part in parts[1:]):
            raise ValueError(f"{self.path} has no {self.until!r} after {self.find!r}")
        return parts[0] + "".join(self.replace + part.split(self.until, 1)[1] for part in parts[1:])


class Case(Model):
    """One patch, and whether it is right."""

    name: str
    dataset: str = "releases"
    """Data set of the instance: the bundled one, or the alias of a published one."""
    instance: str
    label: Literal["wrong", "right"]
    kind: WrongKind | RightKind
    phase: Literal[
        "development",
        "first",
        "second",
        "third",
        "fourth",
        "fifth",
        "sixth",
        "seventh",
        "eighth",
        "ninth",
        "tenth",
        "eleventh",
        "languages",
    ]
    """development: seen while the operators were being made; languages: of another language than Python, written before
    there were operators for it; else which freeze of the operators it was written after, by somebody who had not read
    them (docs/evidence/patchdiff.md names the commits). The eleventh, and some rows of the ninth and tenth, served no
    tuning."""
    why: str
    """Wrong: which input behaves differently from gold, and why that is wrong. Right: why no input can."""
    origin: Literal["base", "gold"] = Field(alias="from")
    """The tree that is edited."""
    edits: tuple[Edit, ...] = Field(min_length=1)
    shows: str = ""
    """A program that prints one thing in the fixed tree and another in the tree of a wrong patch."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        kinds = WrongKind if self.label == "wrong" else RightKind
        if self.kind not in kinds.__args__:  # type: ignore[attr-defined]
            raise ValueError(f"{self.name}: {self.kind} is no kind of a {self.label} patch")
        if (self.label == "wrong") is not bool(self.shows):
            raise ValueError(f"{self.name}: a wrong patch needs `shows`, and a right one has nothing to show")
        return self


@cache
def load_cases() -> tuple[Case, ...]:
    """Read all cases; raises ValidationError for a wrong field."""
    return tuple(map(Case.model_validate_json, FILE.read_text(encoding="utf-8").splitlines()))


def make_patch(case: Case, base_files: Files, gold_files: Files) -> str:
    """Return the case's patch as a git diff against the base tree.

    Args:
        case: the case.
        base_files: the files of the base tree; at least those that are edited or that the gold patch touches.
        gold_files: the same of the fixed tree.

    Raises:
        UserError: an anchor does not fit the tree, or the edits change nothing; names the case.
    """
    origin = base_files if case.origin == "base" else gold_files
    after = dict(origin)
    for edit in case.edits:
        if edit.path not in after:
            raise UserError(f"patchdiff case {case.name}: the {case.origin} tree has no {edit.path}")
        try:
            after[edit.path] = edit.apply(after[edit.path])
        except ValueError as error:
            raise UserError(f"patchdiff case {case.name}: {error}; choose another anchor") from None
    if after == origin:
        raise UserError(f"patchdiff case {case.name}: its edits change nothing")
    return diff(base_files, after)


def load_trees(instance: Instance, sources: Sources) -> tuple[dict[str, str], dict[str, str]]:
    """Return the text files of an instance's base tree and of its fixed tree.

    Raises:
        EnvironmentFailure: the base tree cannot be had.
        CalledProcessError: the gold patch does not apply to it.
    """
    entries = [each for each in read_tar(sources.tree(tree_ref(instance))) if each.mode in (0o100644, 0o100755)]
    with tempfile.TemporaryDirectory() as scratch:
        top = Path(scratch)
        for entry in entries:
            path = top / entry.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(entry.content)
        base = _texts(top)
        gold, outside = instance.gold_patch.encode(), git_env() | {"GIT_CEILING_DIRECTORIES": tempfile.gettempdir()}
        # outside of any repository around the scratch folder, whose paths git would take these for
        subprocess.run(["git", "apply", "-"], cwd=top, input=gold, capture_output=True, check=True, env=outside)
        return base, _texts(top)


def _texts(top: Path) -> dict[str, str]:
    found = {}
    for path in sorted(top.rglob("*")):
        if path.is_file():
            try:
                found[path.relative_to(top).as_posix()] = path.read_bytes().decode()
            except UnicodeDecodeError:
                continue  # nobody edits what is no text
    return found
