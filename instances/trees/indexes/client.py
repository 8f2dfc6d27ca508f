"""Releases and their archives by a language's own package client, which knows where its index is.

The client of this machine is used or, if none works here, the one in the language's toolchain image, in a container.
``dockerfiles/<language>/archive.sh`` and ``releases.sh`` hold its commands, and leave their answer in the file
``archive``. They build and run nothing of the package.
"""

import io
import re
import shutil
import subprocess
from dataclasses import dataclass
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import IO

from assay.harness.domain import Archive, Limits, Recipe
from assay.harness.engines.base import LABEL, BoxSpec, Engine
from assay.harness.engines.tars import pack_tar
from assay.harness.errors import EngineUnavailable, EnvironmentFailure
from assay.harness.program_output import find_cause
from assay.instances.toolchains.buildfiles import build_text
from assay.instances.toolchains.ensure import ensure, scratch_folder
from assay.instances.toolchains.host import IN_BOX, write_secrets
from assay.instances.toolchains.images import UserImages, find_toolchain
from assay.instances.toolchains.make import make_toolchain
from assay.instances.trees.indexes.base import WrongArchive

SECONDS = 600.0
ARCHIVE_BYTES = 512 * 1024 * 1024  # go's own limit for a module's archive; crates are far smaller

VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]*")
IN_CONTAINER = f"set -e; [ ! -e {IN_BOX}/settings ] || . {IN_BOX}/settings; cd /fetch; . ./script.sh"


@dataclass(frozen=True, slots=True)
class Question:
    script: str
    """A file of ``dockerfiles/<language>``."""
    args: tuple[str, ...]
    about: str
    """The question in words: what cannot be done if there is no answer."""


@dataclass(frozen=True, slots=True)
class PackageClient:
    """A package client; its ``fetch`` is that of ``base.Index``."""

    program: str
    language: str
    """The language whose toolchain has the program."""
    names: re.Pattern[str]
    """Allowed package names: they go into the client's files and into shell text."""
    version: str = "--version"
    """Argument with which a program that works says its version."""

    def fetch(self, archive: Archive, to: IO[bytes], cache: Path, images: UserImages, /) -> None:
        for field, value, allowed in (("name", archive.name, self.names), ("version", archive.version, VERSION)):
            if not allowed.fullmatch(value):
                raise WrongArchive(f"{value!r} is no {field} of a release that {self.program} can fetch", field)
        about = f"fetch {archive.name} {archive.version}"
        self._ask(Question("archive.sh", (archive.name, archive.version), about), to, cache, images)

    def listing(self, name: str, since: date, cache: Path, images: UserImages) -> str:
        """Return the client's list of a package's releases; raises as ``base.Index.releases``."""
        if not self.names.fullmatch(name):
            raise WrongArchive(f"{name!r} is no name of a package that {self.program} can list", "name")
        with io.BytesIO() as to:
            question = Question("releases.sh", (name, since.isoformat()), f"list the releases of {name}")
            self._ask(question, to, cache, images)
            return to.getvalue().decode(errors="replace")

    def _ask(self, question: Question, to: IO[bytes], cache: Path, images: UserImages) -> None:
        with scratch_folder(cache) as folder:
            scratch = Path(folder)
            if _works(self.program, self.version):
                self._run_here(question, scratch, to)
            else:
                self._run_in_box(question, scratch, to, _Toolbox(self.language, cache, images))

    def _run_here(self, question: Question, scratch: Path, to: IO[bytes]) -> None:
        script, said = scratch / "script.sh", scratch / "said"
        script.write_text(self._text(question), encoding="utf-8")
        work = scratch / "work"
        work.mkdir()
        with said.open("wb") as output:  # not a pipe: a child that keeps it open would outlive the time limit
            exit_code = _exit_code(["sh", str(script), *question.args], work, output)
        if exit_code is None:
            raise self._make_error(question, f"no answer in {SECONDS:.0f} s")
        if exit_code:
            raise self._make_error(question, said.read_text(encoding="utf-8", errors="replace"))
        with (work / "archive").open("rb") as found:
            shutil.copyfileobj(found, to)

    def _run_in_box(self, question: Question, scratch: Path, to: IO[bytes], toolbox: "_Toolbox") -> None:
        engine, image = toolbox.open(self.program)
        mounts = {str(path): f"{IN_BOX}/{key}" for key, path in write_secrets(scratch).items()}
        limits = Limits(network=True, cpus=2.0, seconds=SECONDS)
        with engine.open(BoxSpec(image, limits, {f"{LABEL}.kind": "archive"}, mounts=mounts)) as box:
            box.put(pack_tar({"fetch/script.sh": self._text(question)}))
            done = box.exec(["sh", "-c", IN_CONTAINER, "sh", *question.args], seconds=SECONDS)
            if done.exit_code != 0:
                raise self._make_error(question, done.output.decode(errors="replace"))
            found = box.get("/fetch/archive", ARCHIVE_BYTES)
        to.writelines(found.values())

    def _text(self, question: Question) -> str:
        return build_text(question.script, self.language)

    def _make_error(self, question: Question, output: str) -> EnvironmentFailure:
        problem = f"{self.program} cannot {question.about}: {_complaint(output)}"
        return EnvironmentFailure(problem, tail=output, cause=find_cause(output))


@dataclass(frozen=True, slots=True)
class _Toolbox:
    """A language's toolchain image, for the programs in it."""

    language: str
    cache: Path
    images: UserImages

    def open(self, program: str) -> tuple[Engine, str]:
        """Return an engine and the name of the image, after building it if need be."""
        from assay.harness.engines import open_engine

        try:
            engine = open_engine("docker")
        except EngineUnavailable as error:
            problem = f"there is no {program} on this machine, nor an engine to run one in a container"
            raise EnvironmentFailure(f"{problem} ({error})") from error
        base = find_toolchain(Recipe(language=self.language), self.images, engine)
        if base.is_made:
            ensure(base.name, engine, self.cache, partial(make_toolchain, base, engine))
        return engine, base.name


@cache
def _works(program: str, version: str) -> bool:
    """Return whether a program of this machine starts; one of rustup may have no toolchain behind it."""
    try:
        done = subprocess.run(
            [program, version], capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _exit_code(command: list[str], folder: Path, output: IO[bytes]) -> int | None:
    """Run a command in a folder; return None if it did not end in time."""
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    return done.returncode


def _complaint(output: str) -> str:
    """Return a client's complaint as one line: from its first error on, or its last line."""
    lines = output.strip().splitlines() or ["no message"]
    first = next((number for number, line in enumerate(lines) if line.startswith("error")), len(lines) - 1)
    return " ".join(" ".join(lines[first:]).split())[:400]
