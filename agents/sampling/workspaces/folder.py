"""A workspace without a container: a git checkout in a folder of this machine.

For tests, and for people without an engine. It isolates nothing: commands run as the user who runs Assay.
"""

import base64
import os
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from assay.agents.contract import Workspace
from assay.agents.sampling.workspaces import scripts
from assay.agents.sampling.workspaces.checkout import CheckoutWorkspace, RawCommandResult
from assay.harness.domain import Status
from assay.harness.errors import EngineError, UserError

RunTests = Callable[["FolderWorkspace", Sequence[str], Mapping[str, bytes]], dict[str, Status]]
"""Runs test files with extra files in place; returns the status of each test."""
GRACE = 20.0  # seconds beyond a command's own limit until it must have ended


class FolderWorkspace(CheckoutWorkspace):
    """A checkout in a folder; its base is the commit that is checked out when it is opened."""

    def __init__(self, folder: Path, *, run_tests: RunTests | None = None) -> None:
        """Open a checkout, with its own store in ``.git``; raises EngineError if it is no repository with a commit."""
        folder = folder.resolve()
        super().__init__(str(folder), str(folder / ".git" / "assay"))
        self._folder = folder
        self._run_tests = run_tests
        self._open_store(borrow=True)

    def _run(
        self, command: str, *, seconds: float, stdin: bytes, env: Mapping[str, str], output_bytes: int
    ) -> RawCommandResult:
        began = time.monotonic()
        with _input(stdin) as given:
            argv = scripts.command_line(command, uuid.uuid4().hex, given, seconds, output_bytes)
            try:
                done = subprocess.run(
                    argv,
                    cwd=self._folder,
                    env={**os.environ, **env},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                    timeout=seconds + GRACE,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                raise EngineError(f"a command cannot run in {self._folder}: {error}") from error
        return RawCommandResult(done.returncode, done.stdout, time.monotonic() - began)

    def read(self, path: str) -> bytes | None:
        file = self._folder / path
        return file.read_bytes() if file.is_file() else None

    def write(self, path: str, content: bytes) -> None:
        file = self._folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    @contextmanager
    def fork(self, snapshot: str) -> Iterator[Workspace]:
        with tempfile.TemporaryDirectory(prefix="assay-fork-") as scratch:
            copy = Path(scratch) / self._folder.name
            with self._lock:
                shutil.copytree(self._folder, copy, symlinks=True)
            forked = FolderWorkspace(copy, run_tests=self._run_tests)
            forked.restore(snapshot)
            yield forked

    def run_tests(self, files: Sequence[str] = (), *, extra: Mapping[str, bytes] | None = None) -> dict[str, Status]:
        if self._run_tests is None:
            raise UserError("tests cannot run in this folder; pass run_tests")
        with self.fork(self.snapshot()) as fresh:
            assert isinstance(fresh, FolderWorkspace)
            for path, content in (extra or {}).items():
                fresh.write(path, content)
            return self._run_tests(fresh, files, extra or {})


@contextmanager
def _input(stdin: bytes) -> Iterator[str]:
    """Yield a command's input for ``scripts.COMMAND``: base64 text, or the path of a file if it is long."""
    if len(stdin) <= 48 * 1024:
        yield base64.b64encode(stdin).decode()
        return
    with tempfile.TemporaryDirectory(prefix="assay-input-") as scratch:
        file = Path(scratch) / "input"
        file.write_bytes(stdin)
        yield str(file)


def folder_workspace(
    folder: Path, files: Mapping[str, str | bytes], *, run_tests: RunTests | None = None
) -> FolderWorkspace:
    """Make a git repository with one commit of these files (path to content) in a folder, and open it."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    who = ("-c", "user.name=assay", "-c", "user.email=assay@localhost", "-c", "commit.gpgSign=false")
    for command in (
        ("init", "--quiet", "--template=", "--initial-branch=main"),
        ("add", "--all", "--force"),
        (*who, "commit", "--quiet", "--allow-empty", "--message", "base"),
    ):
        subprocess.run(("git", "-c", "core.autocrlf=false", *command), cwd=folder, check=True, capture_output=True)
    return FolderWorkspace(folder, run_tests=run_tests)
