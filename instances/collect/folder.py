"""The folder of a collection: its settings, one file of lines for each phase, and what is published."""

from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from assay.harness.domain import Model
from assay.harness.errors import DataError, UserError
from assay.harness.files import append_lines, replace_file
from assay.instances.collect.steps import CandidateStep, Filtered, Found, Paired, Phase, Prepared, Validated

LINES: dict[Phase, type[CandidateStep]] = {
    Phase.FIND: Found,
    Phase.PAIR: Paired,
    Phase.FILTER: Filtered,
    Phase.SETUP: Prepared,
    Phase.VALIDATE: Validated,
}
SETTINGS = "collection.json"
StepT = TypeVar("StepT", bound=CandidateStep)


class CollectionSettings(Model):
    """What a folder is a collection of."""

    name: str = "collection"
    """The data set's name, which stays when the folder is moved."""
    repos: tuple[str, ...]
    since: date | None = None
    until: date | None = None


class CollectionFolder:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.dataset, self.recipes, self.runs = (root / name for name in ("dataset", "recipes", "runs"))

    def open(self, settings: CollectionSettings) -> None:
        """Begin a collection, or continue one of the same settings but the name; raises UserError for anything else."""
        path = self.root / SETTINGS
        if not path.is_file():
            if self.root.exists() and (not self.root.is_dir() or any(self.root.iterdir())):
                raise UserError(f"{self.root} holds something else; name a folder that does not exist yet")
            replace_file(path, settings.model_dump_json(indent=1).encode() + b"\n")
            return
        held = self.settings()
        if settings.model_copy(update={"name": held.name}) != held:
            dates = f"{held.since or 'the beginning'} to {held.until or 'today'}"
            raise UserError(
                f"{self.root} is a collection of {', '.join(held.repos)} from {dates};"
                " give the same repositories and dates, or name another folder"
            )

    def settings(self) -> CollectionSettings:
        """Read the settings; raises UserError if the folder is no collection."""
        path = self.root / SETTINGS
        try:
            return CollectionSettings.model_validate_json(path.read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            raise UserError(f"{self.root} is no collection; `assay dataset collect -o DIR` makes one") from None
        except ValidationError as error:
            raise DataError(f"is damaged: {error.errors()[0]['msg']}", file=str(path)) from None

    def has(self, phase: Phase) -> bool:
        return self._path(phase).is_file()

    def read(self, phase: Phase, kind: type[StepT]) -> list[StepT]:
        """Return the lines of a phase, the last one of each candidate; a line that a crash tore is left out."""
        path, found = self._path(phase), dict[str, StepT]()
        for line in path.read_bytes().splitlines() if path.is_file() else ():
            try:
                step = kind.model_validate_json(line)
            except ValidationError:
                continue
            found[step.id] = step
        return list(found.values())

    def steps(self, phase: Phase) -> list[CandidateStep]:
        return self.read(phase, LINES[phase])

    def add(self, phase: Phase, step: CandidateStep) -> None:
        append_lines(self._path(phase), [step.model_dump_json(exclude_defaults=True, by_alias=True).encode()])

    def write(self, phase: Phase, steps: Iterable[CandidateStep]) -> None:
        lines = (step.model_dump_json(exclude_defaults=True, by_alias=True) for step in steps)
        replace_file(self._path(phase), "".join(f"{line}\n" for line in lines).encode())

    def _path(self, phase: Phase) -> Path:
        return self.root / f"{phase}.jsonl"
