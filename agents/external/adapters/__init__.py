"""Command-line agents of others, described in YAML: how one is installed, run, and what it leaves.

To add one to Assay, lay ``<name>.yaml`` beside this file; to use one of your own, name its path.
"""

import re
from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Self

import yaml
from pydantic import Field, ValidationError, model_validator

from assay.agents.contract import SolutionStatus
from assay.harness.domain import Model
from assay.harness.errors import DataError, UserError

FOLDER = Path(__file__).parent
SUFFIXES = (".yaml", ".yml")
PLACEHOLDERS = ("base_url", "origin", "token", "model", "home", "logs", "tool", "root", "instruction")
"""What ``{...}`` may hold in an adapter's texts, but for shell texts: those find ASSAY_BASE_URL and so on."""
INSTRUCTION = """\
Resolve the issue below in the repository in {root}: change its files so that what the issue asks for holds.
Work on your own to the end; nobody answers questions, and there is no network. Leave the changes in the files; commit
nothing, and remove what you made only to try things out.

{issue}
"""
"""What a program is told that brings no words of its own for issues."""
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


class Ecosystem(StrEnum):
    """Where a program comes from."""

    PYTHON = "python"
    NODE = "node"
    NONE = "none"
    """Nothing is installed: the command is part of every image, or a folder of the host."""


class Interface(StrEnum):
    """In which form a program asks its model; the proxy answers it in this form alone."""

    CHAT = "chat"
    """OpenAI's chat completions, which every server of models speaks."""
    RESPONSES = "responses"
    """OpenAI's other one."""
    MESSAGES = "messages"
    """Anthropic's; ``{origin}`` is the address that its programs want, without a version."""
    GEMINI = "gemini"
    """Google's."""


class Install(Model):
    """How a program comes into the folder that its containers mount."""

    ecosystem: Ecosystem = Ecosystem.NONE
    package: str = ""
    """Empty for a program that is on no index: ``script`` installs it."""
    version: str = ""
    """The one that was tried; a run may ask for another."""
    extra: tuple[str, ...] = ()
    """Further packages beside it, in the ecosystem's own spelling."""
    without: tuple[str, ...] = ()
    """Packages that it wants and does not need here (Python only)."""
    as_of: date | None = None
    """Day after which no package may have been published, so that what was tried stays what is had (Python only)."""
    python: str = "3.13"
    """Version, among the toolchains that Assay makes itself, of the Python that the program gets."""
    script: str = ""
    """Shell text run after that, with a network and git; $ASSAY_TOOL is the folder, $VERSION the version."""
    folder: Path | None = None
    """Folder of the host that holds the program, instead of all this."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.ecosystem is not Ecosystem.NONE and not (self.version and (self.package or self.script)):
            raise ValueError(f"ecosystem {self.ecosystem} needs a version, and a package of that version or a script")
        if self.ecosystem is Ecosystem.NONE and (self.package or self.extra or self.script):
            raise ValueError("without an ecosystem (python or node) nothing is installed")
        if self.ecosystem is not Ecosystem.NONE and self.folder:
            raise ValueError("a program is installed or lies in a folder, not both")
        return self


class OwnTrajectory(Model):
    """What a program itself tells of its work."""

    importer: str
    """Name among ``agents.importers.IMPORTERS``."""
    file: str
    """Pattern of its path in the container."""


class ErrorPattern(Model):
    """A text in a program's output that suggests, and never decides, what went wrong."""

    pattern: str
    """Regular expression."""
    suggests: SolutionStatus

    @model_validator(mode="after")
    def _compiles(self) -> Self:
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise ValueError(f"{self.pattern!r} is no regular expression: {error}") from error
        return self


class Adapter(Model):
    """A command-line agent of others."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")
    about: str = ""
    install: Install = Install()
    version_command: str = ""
    """Shell text that prints the program's version."""
    run: str = Field(min_length=1)
    """Shell text that does the work in the root of the tree, under ``bash -o pipefail`` and with an empty input.

    It finds ASSAY_INSTRUCTION (a file), ASSAY_MODEL, ASSAY_BASE_URL, ASSAY_TOKEN, ASSAY_HOME and ASSAY_LOGS (folders of
    its own), ASSAY_TOOL (where the program is mounted), ASSAY_ROOT (of the tree), and ASSAY_STEPS (how many it may
    take; empty for no limit).
    """
    instruction: str = INSTRUCTION
    """What the program is told to do; ``{issue}`` is the issue, and ``{root}`` where the repository lies."""
    env: Mapping[str, str] = Field(default_factory=dict)
    files: Mapping[str, str] = Field(default_factory=dict)
    """Written before it runs: path in the container to content."""
    logs: tuple[str, ...] = ()
    """Patterns of files in the container that are kept."""
    trajectory: OwnTrajectory | None = None
    errors: tuple[ErrorPattern, ...] = ()
    seconds: float = Field(default=3600.0, gt=0)
    """How long it may take where the run's budget does not say."""
    speaks: Interface = Interface.CHAT
    needs_model: bool = True

    @model_validator(mode="after")
    def _placeholders_are_known(self) -> Self:
        for variable, text in self.env.items():
            for unknown in sorted(set(_PLACEHOLDER.findall(text)) - set(PLACEHOLDERS)):
                known = ", ".join(PLACEHOLDERS)
                raise ValueError(f"env {variable} has the unknown placeholder {{{unknown}}}; known are {known}")
        return self

    def suggestions(self, output: str) -> tuple[SolutionStatus, ...]:
        """Return what the output suggests to have gone wrong, each once, in the order of the patterns."""
        found = (error.suggests for error in self.errors if re.search(error.pattern, output))
        return tuple(dict.fromkeys(found))


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put values in place of the placeholders among them; braces around anything else stay as they are."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


def names() -> tuple[str, ...]:
    """Return the names of the adapters that come with Assay, sorted."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def load_adapter(name: str) -> Adapter:
    """Read an adapter by its name, or by the path of a YAML file of the user's.

    Raises:
        UserError: there is none, or it is wrong; names file, field and what to do.
    """
    if name.endswith(SUFFIXES):
        return _read(Path(name))
    if name not in names():
        raise UserError(f"there is no agent {name!r}; known are {', '.join(names())}, or give the path of a .yaml file")
    return _read(FOLDER / f"{name}.yaml")


def _read(path: Path) -> Adapter:
    try:
        parsed = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise DataError(f"this is no YAML: {' '.join(str(error).split())}", file=str(path)) from error
    if not isinstance(parsed, dict):
        raise DataError("an adapter is a mapping with the fields name and run at least", file=str(path))
    try:
        adapter = Adapter.model_validate(parsed)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise DataError(first["msg"].removeprefix("Value error, "), file=str(path), field=field) from error
    return _with_folder(adapter, path.parent)


def _with_folder(adapter: Adapter, beside: Path) -> Adapter:
    """Read the folder of a program as lying beside the adapter's file."""
    if adapter.install.folder is None:
        return adapter
    folder = (beside / adapter.install.folder).resolve()
    if not folder.is_dir():
        raise DataError(f"{folder} is no folder", file=adapter.name, field="install.folder")
    return adapter.model_copy(update={"install": adapter.install.model_copy(update={"folder": folder})})
