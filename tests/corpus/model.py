"""The corpus as data: projects, the instances cut from them, and cases."""

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from string import ascii_lowercase
from typing import Any, Literal

import yaml
from pydantic import Field, field_validator

from assay.harness.domain import Instance, Model, Outcome, Recipe

FOLDER = Path(__file__).parent
REPO = "acme/calc-{language}"
CREATED = datetime(2023, 6, 1, tzinfo=UTC)


class Cut(Model):
    """An instance of a project: its tests, its labels and, where it is another than the project's, its fix."""

    gold: dict[str, str] = Field(default_factory=dict)
    tests: dict[str, str]
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...] = ()
    recipe: dict[str, Any] = Field(default_factory=dict)


class Project(Model):
    """A tree, its usual fix and its instances."""

    language: str
    files: dict[str, str]
    links: dict[str, str] = Field(default_factory=dict)
    gold: dict[str, str] = Field(default_factory=dict)
    recipe: dict[str, Any] = Field(default_factory=dict)
    created_at: datetime = CREATED
    instances: dict[str, Cut]

    @property
    def repo(self) -> str:
        """Name of its repository."""
        return REPO.format(language=self.language)

    def instance(self, name: str, base_commit: str) -> Instance:
        """Return one of its instances."""
        cut = self.instances[name]
        fixed = self.files | (cut.gold or self.gold)
        recipe = {**self.recipe, **cut.recipe}
        return Instance(
            id=f"acme__{self.language}-{name}",
            repo=self.repo,
            base_commit=base_commit,
            language=self.language,
            problem_statement="sums are wrong",
            gold_patch=diff(self.files, fixed),
            test_patch=diff(self.files, self.files | cut.tests),
            fail_to_pass=cut.fail_to_pass,
            pass_to_pass=cut.pass_to_pass,
            created_at=self.created_at,
            environment=Recipe(language=self.language, **recipe) if recipe else None,
        )


class Row(Model):
    """What is particular to a row with its own image and script; the rest is as SWE-bench writes it."""

    prepare: str = ""
    """Lines before the tests are patched."""
    install: str = ""
    tests: str = "pytest -rA tests/test_calc.py"
    markers: bool = True
    dos: bool = False
    """Whether its lines end as in DOS."""


class Case(Model):
    """One case: a patch and what has to come of it.

    The patch is ``patch`` as it stands, what ``generate`` names, or the difference that ``write``, ``append``,
    ``replace`` and ``delete`` make to the base tree, or with ``gold`` to the fixed tree.
    """

    number: str
    """Of the table in the design, perhaps with a letter for a stronger form of the same attack."""
    name: str
    group: str
    title: str
    instance: str = "calc"
    language: str = "python"
    gold: bool = False
    write: dict[str, str] = Field(default_factory=dict)
    append: dict[str, str] = Field(default_factory=dict)
    replace: dict[str, tuple[str, str]] = Field(default_factory=dict)
    """By file: a text that is there once, and the one in its place."""
    delete: tuple[str, ...] = ()
    patch: str = ""
    generate: str = ""
    check: str = ""
    """A function of ``corpus.checks`` that is the whole case, or that looks closer at what came of it."""
    engine: Literal["docker", "fake", "none"] = "docker"
    row: Row | None = None
    """The case is played in a look-alike of a published image."""
    runs_empty: bool = True
    limits: dict[str, Any] = Field(default_factory=dict)
    outcomes: tuple[Outcome, ...] = ()
    """What may come of it; the first is what the table says."""
    reason: str = ""
    flags: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    normalized: tuple[str, ...] = ()
    unfixed: tuple[str, ...] = ()
    seconds: float = 0.0
    """Of the whole evaluation, at most; 0: no matter."""
    fools: Literal["", "status", "log", "report"] = ""
    """What a harness that only applies and runs would believe: the exit status, lines of the log, the report file."""
    counter: bool | Literal["sealed"] = False
    """Whether its counter-tests are run, in the place of their originals; ``sealed``: tests without answers too."""
    beside: tuple[Outcome, ...] = ()
    """What may come of it with counter-tests that run beside their originals; they do not if it is empty."""
    mark: Literal["", "patchdiff", "beyond"] = ""
    """patchdiff: tests alone cannot see it, the comparison with gold has to; beyond: a known limit, documented."""
    note: str = ""

    @field_validator("outcomes", "beside", mode="before")
    @classmethod
    def _one_or_several(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @property
    def id(self) -> str:
        """Name of the pytest parameter."""
        return f"{self.number}-{self.name}"

    @property
    def kind(self) -> Literal["honest", "hostile"]:
        """Whether the patch should be resolved; hostile is each that should not, whatever comes of it."""
        return "honest" if self.outcomes == (Outcome.RESOLVED,) and not self.mark else "hostile"

    @property
    def place(self) -> int:
        """Number in the table."""
        return int(self.number.rstrip(ascii_lowercase))

    def text(self, project: Project) -> str:
        """Return the patch."""
        if self.patch:
            return self.patch
        cut = project.instances[self.instance]
        tree = project.files | (cut.gold or project.gold) if self.gold else dict(project.files)
        after = tree | self.write
        for path, more in self.append.items():
            after[path] = after[path] + more
        for path, (old, new) in self.replace.items():
            assert after[path].count(old) == 1, f"{self.id}: {path} does not have this once: {old}"
            after[path] = after[path].replace(old, new)
        for path in self.delete:
            del after[path]
        return diff(project.files, after)


def diff(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return a git diff of two trees."""
    paths = sorted({*before, *after})
    return "".join(_file_diff(p, before.get(p), after.get(p)) for p in paths if before.get(p) != after.get(p))


def _file_diff(path: str, before: str | None, after: str | None) -> str:
    mode = {(True, False): "new file mode 100644\n", (False, True): "deleted file mode 100644\n"}
    old, new = ("/dev/null" if before is None else f"a/{path}"), ("/dev/null" if after is None else f"b/{path}")
    header = f"diff --git a/{path} b/{path}\n" + mode.get((before is None, after is None), "")
    lines = list(difflib.unified_diff(_lines(before), _lines(after), old, new, lineterm="\n"))
    ended = [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
    return header + "".join(ended)


def _lines(text: str | None) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text or "")


@dataclass(frozen=True, slots=True)
class Corpus:
    """All that is in the folder."""

    projects: Mapping[str, Project]
    cases: tuple[Case, ...]


@cache
def corpus() -> Corpus:
    """Read projects and cases; raises ValidationError for a wrong field."""
    projects = [Project.model_validate(_yaml(path)) for path in sorted((FOLDER / "projects").glob("*.yaml"))]
    cases = sorted(_cases(), key=lambda case: (case.place, case.number))
    return Corpus({project.language: project for project in projects}, tuple(cases))


def _cases() -> Iterator[Case]:
    for path in sorted((FOLDER / "cases").glob("*.yaml")):
        yield from (Case.model_validate({"group": path.stem, **row}) for row in _yaml(path))


def _yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))
