"""What only a person can say about a submission: a YAML file for ``report export --metadata``."""

import datetime
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints

from assay.harness.domain import Model
from assay.harness.errors import UserError
from assay.harness.files import make_model, read_yaml


def _is_a_link(text: str) -> str:
    if text and not text.startswith(("http://", "https://")):
        raise ValueError(f"{text[:60]!r} is no address; write https://...")
    return text


Link = Annotated[str, AfterValidator(_is_a_link)]
FolderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]?[A-Za-z0-9_.+-]*$")]


class SubmissionMetadata(Model):
    """The file's fields; each format says which of them it needs (``REQUIRED``)."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    name: str = ""
    split: FolderName = ""
    """Part of the leaderboard, e.g. ``verified`` or ``PB500``."""
    date: datetime.date | None = None
    """Day of the submission; that of the run if there is none."""
    folder: FolderName = ""
    """Name of the submission's folder behind its date; made from ``name`` if there is none."""
    authors: str = ""
    site: Link = ""
    report: Link = ""
    logo: Link = ""
    model: tuple[str, ...] = ()
    """Names of the language models."""
    org: tuple[str, ...] = ()
    os_model: bool | None = None
    """Whether the models' weights are open."""
    os_system: bool | None = None
    """Whether the system is open source."""
    attempts: Literal["1", "2+"] = "1"
    """Tries of each instance among which the system itself chose."""
    notes: str = Field(default="", repr=False)
    """Text for README.md, in Markdown."""
    benchmark: str = ""
    task: str = ""
    """Id of the task in the ``eval.yaml`` of that data set."""


EXAMPLE = "a line for each into that YAML file, such as 'name: My agent', 'model: [Model 2]', 'os_system: true'"


def read_metadata(path: Path) -> SubmissionMetadata:
    """Read the file; raises DataError that names the wrong field, UserError if there is no such file."""
    if not path.exists():
        raise UserError(f"{path}: there is no such file; write the path of your YAML file")
    return make_model(SubmissionMetadata, read_yaml(path), str(path), f"write {EXAMPLE}")


def make_template(required: Sequence[str], format_name: str) -> str:
    """Return the file to fill in: every field with its meaning, the needed ones first, the others as comments."""
    lines = [f"# What {format_name} wants to know about a submission. Fill in the fields above the line.", ""]
    for name in required:
        lines += _say_field(name, "")
    lines += ["", "# ---- You may leave out the rest; take away the # of a field that you fill in."]
    for name in [name for name in SubmissionMetadata.model_fields if name not in required]:
        lines += _say_field(name, "# ")
    return "\n".join(lines) + "\n"


def _say_field(name: str, start: str) -> Iterator[str]:
    """Yield the meaning of a field, if it needs one, and the field with its usual value."""
    field = SubmissionMetadata.model_fields[name]
    if field.description:
        yield f"# {field.description}"
    usual = field.get_default()
    yield f"{start}{name}: {'' if usual is None else json.dumps(usual)}".rstrip()


def require(metadata: SubmissionMetadata, fields: Sequence[str], format_name: str, file: Path | None) -> None:
    missing = [name for name in fields if getattr(metadata, name) in ("", (), None)]
    if missing:
        where, listed = str(file) if file else "--metadata FILE is not given", ", ".join(missing)
        raise UserError(f"{where}: {format_name} needs {listed}; write {EXAMPLE}")
