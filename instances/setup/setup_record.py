"""What a search leaves behind: the recipe as YAML, and every attempt with its reasons as JSON."""

from datetime import datetime
from pathlib import Path

import yaml

from assay.harness.domain import Model, Recipe
from assay.harness.files import read_model, replace_file


class AppliedChange(Model):
    """A change of the recipe for the next round: the rule or the advisor that made it, and why."""

    rule: str
    reason: str
    line: str = ""
    """The matched text of the output."""


class AdvisorCall(Model):
    """One question to an advisor."""

    answer: str = ""
    """Empty if it gave none; a long one is cut."""
    files: tuple[str, ...] = ()
    """Files and folders of the tree that it asked to see."""
    result: str = ""
    """The use of the answer, or why there is none."""
    tokens: int = 0
    cost: float = 0.0
    """US dollars; 0 where the price is not known."""


class SetupRound(Model):
    """One round: a recipe and its result."""

    recipe: Recipe
    problem: str = ""
    """Why there are no results; empty if there are."""
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    share: float = 0.0
    """Share of the collected tests that passed, from 0 to 1."""
    failing: tuple[str, ...] = ()
    """The first tests that failed."""
    seconds: float = 0.0
    changes: tuple[AppliedChange, ...] = ()
    """Changes for the next round."""
    calls: tuple[AdvisorCall, ...] = ()
    """Questions to the advisor after this round."""
    output: str = ""
    """The last lines of the failed step, or of the tests."""

    @property
    def summary(self) -> str:
        """Result and changes in a line."""
        result = self.problem or f"{self.passed} of {self.passed + self.failed} tests pass"
        changes = "; ".join(f"{change.rule} ({change.reason})" for change in self.changes[:3])
        return f"{result}{' -> ' if changes else ''}{changes}"[:300]


class SetupRecord(Model):
    """A search for the recipe of one repository at one commit."""

    repo: str
    commit: str
    """The commit's id, or the SHA-256 of a release's archive."""
    date: datetime
    """Date of the commit or the release."""
    language: str
    version: str = ""
    """The project's version, from its tags."""
    accepted: bool = False
    reason: str = ""
    """Why it was accepted, or was not."""
    ended: bool = False
    """Whether the search came to its end; one that was interrupted resumes."""
    seconds: float = 0.0
    share: float = 0.0
    """Share of the collected tests that passed in both runs of the accepted recipe; else that of the best round."""
    unstable: tuple[str, ...] = ()
    """Tests on which the two runs do not agree."""
    recipe: Recipe = Recipe()
    """The accepted one, or that of the best round."""
    following: Recipe | None = None
    """The recipe of the next round; None if the search has ended."""
    attempts: tuple[SetupRound, ...] = ()
    assay_version: str = ""

    @property
    def calls(self) -> tuple[AdvisorCall, ...]:
        """All questions to an advisor so far."""
        return tuple(call for attempt in self.attempts for call in attempt.calls)

    def reopened(self) -> "SetupRecord":
        """Return an ended search as one that has not ended: its best recipe is tried next."""
        last = [each.model_copy(update={"changes": ()}) for each in self.attempts[-1:]]
        changes = {"attempts": (*self.attempts[:-1], *last), "following": self.recipe if last else None}
        return self.model_copy(update={**changes, "ended": False, "reason": ""})


def recipe_path(folder: Path, record: SetupRecord) -> Path:
    """Return the recipe file of a record in a folder of recipes, as ``--recipes`` reads it."""
    return folder / record.language / f"{record.repo.lower().replace('/', '__')}.yaml"


def record_path(folder: Path, language: str, repo: str, commit: str) -> Path:
    return folder / language / f"{repo.lower().replace('/', '__')}.{commit[:12]}.attempts.json"


def save_record(folder: Path, record: SetupRecord) -> Path:
    """Write a record, and its recipe if it is accepted; returns the path of the record."""
    path = record_path(folder, record.language, record.repo, record.commit)
    replace_file(path, record.model_dump_json(indent=2, exclude_defaults=True).encode() + b"\n")
    if record.accepted:
        replace_file(recipe_path(folder, record), recipe_text(record).encode())
    return path


def load_record(path: Path) -> SetupRecord | None:
    return read_model(path, SetupRecord)


def recipe_text(record: SetupRecord) -> str:
    """Return an accepted recipe as YAML, with a comment for each change that a rule made."""
    head = f"# Found by `assay dataset setup` for {record.commit} of {record.date:%Y-%m-%d}: {record.reason}.\n"
    changes = (change for attempt in record.attempts for change in attempt.changes)
    notes = dict.fromkeys(f"# {change.rule}: {' '.join(change.reason.split())}\n" for change in changes)
    content = record.recipe.model_dump(mode="json", exclude_defaults=True)
    return head + "".join(notes) + yaml.dump(content, Dumper=_Readable, sort_keys=False, width=110)


class _Readable(yaml.SafeDumper):
    """Writes texts of several lines as blocks."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Readable.add_representer(str, _text)
