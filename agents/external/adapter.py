"""Adapters: YAML files that say how to install and run a command-line agent, and which files to keep of it.

Assay's own are ``adapters/<name>.yaml``; others are named by their path.
"""

import re
from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from assay.agents.contract import SolutionStatus
from assay.harness.domain import Model
from assay.harness.errors import DataError, UserError
from assay.harness.files import make_model, read_yaml

FOLDER = Path(__file__).parent / "adapters"
SUFFIXES = (".yaml", ".yml")
PLACEHOLDERS = ("base_url", "origin", "token", "model", "home", "logs", "tool", "root", "instruction")
"""Names for ``{...}`` in an adapter's texts other than shell commands, which have ASSAY_BASE_URL and so on."""
INSTRUCTION = """\
Resolve the issue below in the repository in {root}: change its files so that what the issue asks for holds.
Work on your own to the end; nobody answers questions, and there is no network. Leave the changes in the files; commit
nothing, and remove what you made only to try things out.

{issue}
"""
"""Default of ``Adapter.instruction``."""
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


class Ecosystem(StrEnum):
    """Package index of a program."""

    PYTHON = "python"
    NODE = "node"
    NONE = "none"
    """Nothing to install: every image has the program, or a folder of the host does."""


class ModelApi(StrEnum):
    """API in which a program asks its model; the proxy serves no other."""

    CHAT = "chat"
    """OpenAI's chat completions."""
    RESPONSES = "responses"
    """OpenAI's responses."""
    MESSAGES = "messages"
    """Anthropic's messages; its clients want ``{origin}`` as their address, without a version."""
    GEMINI = "gemini"
    """Google's generateContent."""


class Install(Model):
    """How to install a program into the folder that its containers mount."""

    ecosystem: Ecosystem = Ecosystem.NONE
    package: str = ""
    """Empty for a program on no package index, which ``script`` installs."""
    version: str = ""
    """The version that was tested; a run may choose another."""
    extra: tuple[str, ...] = ()
    """Further packages, in the ecosystem's own notation."""
    without: tuple[str, ...] = ()
    """Dependencies to leave out because they are not needed here (Python only)."""
    as_of: date | None = None
    """Ignore packages published after this day, so that every installation gets the tested ones (Python only)."""
    python: str = "3.13"
    """Version of the program's Python, one of the versions that Assay builds from Debian packages."""
    script: str = ""
    """Shell commands to run last, with a network and git; $ASSAY_TOOL is the folder, $VERSION the version."""
    folder: Path | None = None
    """Folder of the host that holds the program; excludes ``ecosystem``."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.ecosystem is not Ecosystem.NONE and not (self.version and (self.package or self.script)):
            raise ValueError(f"ecosystem {self.ecosystem} needs a version, and a package of that version or a script")
        if self.ecosystem is Ecosystem.NONE and (self.package or self.extra or self.script):
            raise ValueError("without an ecosystem (python or node) nothing is installed")
        if self.ecosystem is not Ecosystem.NONE and self.folder:
            raise ValueError("a program is either installed or in a folder, not both")
        return self


class OwnTrajectory(Model):
    """The record that a program writes of its work."""

    importer: str
    """Name in ``importers.IMPORTERS``."""
    file: str
    """Glob pattern of its path in the container."""


class ErrorPattern(Model):
    """Output of a program that suggests, and never decides, the cause of a failure."""

    pattern: str
    suggests: SolutionStatus

    @model_validator(mode="after")
    def _compiles(self) -> Self:
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise ValueError(f"{self.pattern!r} is not a regular expression: {error}") from error
        return self


class Adapter(Model):
    """A command-line agent."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")
    about: str = ""
    install: Install = Install()
    version_command: str = ""
    """Shell command that prints the program's version."""
    run: str = Field(min_length=1)
    """Shell commands that do the work, run by ``bash -o pipefail`` in the root of the tree with empty standard input.

    Environment: ASSAY_INSTRUCTION (a file), ASSAY_MODEL, ASSAY_BASE_URL, ASSAY_TOKEN, ASSAY_HOME, ASSAY_LOGS (its own
    folders), ASSAY_TOOL (where it is mounted), ASSAY_ROOT (of the tree), ASSAY_STEPS (a limit; empty for none).
    """
    instruction: str = INSTRUCTION
    """Task for the program; ``{issue}`` is the issue's text and ``{root}`` the repository's path."""
    env: Mapping[str, str] = Field(default_factory=dict)
    files: Mapping[str, str] = Field(default_factory=dict)
    """Files to write before the program runs: path in the container to content."""
    logs: tuple[str, ...] = ()
    """Glob patterns of files in the container to keep."""
    trajectory: OwnTrajectory | None = None
    errors: tuple[ErrorPattern, ...] = ()
    seconds: float = Field(default=3600.0, gt=0)
    """Time limit if the run's budget has none."""
    speaks: ModelApi = ModelApi.CHAT
    needs_model: bool = True

    @model_validator(mode="after")
    def _placeholders_are_known(self) -> Self:
        for variable, text in self.env.items():
            for unknown in sorted(set(_PLACEHOLDER.findall(text)) - set(PLACEHOLDERS)):
                known = ", ".join(PLACEHOLDERS)
                raise ValueError(f"env {variable} has the unknown placeholder {{{unknown}}}; known are {known}")
        return self

    def suggestions(self, output: str) -> tuple[SolutionStatus, ...]:
        """Return the causes of failure that the output suggests, each once, in the order of the patterns."""
        found = (error.suggests for error in self.errors if re.search(error.pattern, output))
        return tuple(dict.fromkeys(found))


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace the placeholders that have a value; other braces stay."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


def adapter_names() -> tuple[str, ...]:
    """Return the names of Assay's own adapters, sorted."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def load_adapter(name: str) -> Adapter:
    """Read an adapter by its name, or by the path of a YAML file. Raises UserError, which names file and field."""
    if name.endswith(SUFFIXES):
        return _read(Path(name))
    if name not in adapter_names():
        known = ", ".join(adapter_names())
        raise UserError(f"there is no agent {name!r}; known are {known}, or give the path of a .yaml file")
    return _read(FOLDER / f"{name}.yaml")


def _read(path: Path) -> Adapter:
    wanted = "an adapter has at least the fields name and run"
    adapter = make_model(Adapter, read_yaml(path), str(path), wanted)
    if adapter.install.folder is None:
        return adapter
    folder = (path.parent / adapter.install.folder).resolve()
    if not folder.is_dir():
        raise DataError(f"{folder} is not a folder", file=adapter.name, field="install.folder")
    return adapter.model_copy(update={"install": adapter.install.model_copy(update={"folder": folder})})
