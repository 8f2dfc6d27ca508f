"""Files of annotations: one a person, which grows by a line for each answer, and one that several were merged into."""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from assay.harness.errors import DataError, UserError, field_error
from assay.harness.files import append_lines, parse_json, read_regular
from assay.harness.metrics.annotations import Annotation, DivergenceAnnotation, InstanceAnnotation, merge_people

REMEDY = "answers come from: assay view RUN --annotate"
KINDS: Mapping[str, type[InstanceAnnotation | DivergenceAnnotation]] = {
    "instance": InstanceAnnotation,
    "divergence": DivergenceAnnotation,
}


def read_annotations(path: Path) -> tuple[Annotation, ...]:
    """Read a file of answers, of each subject the last; raises UserError, and DataError that names the line."""
    try:
        lines = read_regular(path).decode(errors="replace").splitlines()
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file; {REMEDY} {path}") from None
    except NotADirectoryError:
        raise UserError(f"{path}: is in no folder; name another file") from None
    found = {each.subject: each for number, line in enumerate(lines, 1) if (each := _parse(line, path, number))}
    return tuple(found.values())


def _parse(line: str, path: Path, number: int) -> Annotation | None:
    if not line.strip():
        return None
    try:
        content = parse_json(line)
    except ValueError:
        raise DataError("is no JSON; take the line out", file=str(path), line=number) from None
    kind = KINDS.get(str(content.get("kind"))) if isinstance(content, dict) else None
    if kind is None:
        raise DataError(f"is no annotation; {REMEDY} FILE", file=str(path), line=number)
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        found = field_error(error)
        raise DataError(found.problem, file=str(path), line=number, field=found.field) from None


def read_person(path: Path) -> tuple[str, tuple[Annotation, ...]]:
    """Read one person's file, with the name of the person; raises UserError if it is empty or of several."""
    found = read_annotations(path)
    names = {each.by for each in found}
    if not found:
        raise UserError(f"{path}: holds no answer; {REMEDY} {path}")
    if len(names) > 1 or len(found[0].by) > 1:
        raise UserError(f"{path}: holds answers of several people; name the file of each")
    return found[0].by[0], found


def merge_files(paths: Sequence[Path]) -> tuple[dict[str, tuple[Annotation, ...]], list[Annotation]]:
    """Read each person's file; return the answers by person, and those of all together. Raises UserError."""
    people: dict[str, tuple[Annotation, ...]] = {}
    for path in paths:
        name, found = read_person(path)
        if name in people:
            raise UserError(f"{path}: is by {name}, as another of these files is; name one file a person")
        people[name] = found
    return people, merge_people(people.values())


class Annotator:
    """A person, and the file that holds the person's answers: the only one that is ever written."""

    def __init__(self, path: Path) -> None:
        """Read the file if it is there; the person's name is the file's. Raises UserError."""
        if path.suffix != ".jsonl":
            raise UserError(f"{path}: must end in .jsonl; answers are lines, in a file of their own")
        self.path, self.name = path, path.stem
        self._known: dict[tuple[str, ...], Annotation] = {}
        self._lock = threading.Lock()
        if path.is_symlink() or path.exists():
            self._known = {each.subject: each for each in read_annotations(path)}
            if others := {each.by for each in self._known.values()} - {(self.name,)}:
                raise UserError(f"{path}: holds answers of {', '.join(min(others))}; name another file")

    def find(self, subject: tuple[str, ...]) -> Annotation | None:
        """Return the last answer about an instance or a difference."""
        return self._known.get(subject)

    def add(self, annotation: Annotation) -> None:
        """Write an answer to the disk; raises OSError."""
        with self._lock:
            append_lines(self.path, [annotation.model_dump_json().encode()], syncs=True)
            self._known[annotation.subject] = annotation
