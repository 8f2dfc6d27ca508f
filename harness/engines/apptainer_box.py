"""One instance of apptainer as a box: the programs that run in it, its files, and its end."""

import os
import secrets
import select
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from assay.harness.domain import Limits
from assay.harness.engines.apptainer_program import ApptainerProgram, last_line
from assay.harness.engines.base import Box, BoxEnd, ExecResult
from assay.harness.engines.caps import DISK_POLL, FILE_TOO_LARGE, MIB, CappedOutput, Deadline, Watch
from assay.harness.engines.kernel import count_unlinked_bytes, memory_ran_out, processes_were_limited
from assay.harness.engines.tars import extract_files
from assay.harness.errors import EngineError

DRAIN = 2.0
"""Seconds that output may still arrive after its command has ended, from what the command left behind."""
GRACE = 60.0
"""Seconds after its deadline that the program itself may take to notice that everything in the box is dead."""
COPY_SECONDS = 600.0
BLOCK = 512
NOT_THERE = 44
PARTLY = 1  # exit status of tar where a file changed while it was read
SUPERVISING = ("CAP_KILL", "CAP_SETGID", "CAP_SETUID")
WRITING = ("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_MKNOD")
MOUNTING = ("CAP_SYS_ADMIN",)
READING = ("CAP_DAC_READ_SEARCH",)
PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
RUN = """\
[ -z "$1" ] || printf '%s\\n' "$1"; user=$2; cd "$3" || exit 126
ulimit -f "$4" || exit 126
narrow=$5
shift 5
[ -n "${HOME+set}" ] || { HOME=$(getent passwd "$user" | cut -d: -f6); export HOME="${HOME:-/}"; }
case $user in
  root|0) [ -z "$narrow" ] || set -- setpriv "$narrow" --inh-caps=-all -- "$@"; exec "$@" ;;
  *[!0-9]*) uid=$(id -u "$user") && gid=$(id -g "$user") || exit 126
     exec setpriv $narrow --reuid="$uid" --regid="$gid" --init-groups --inh-caps=-all -- "$@" ;;
  *) exec setpriv $narrow --reuid="$user" --regid=0 --clear-groups --inh-caps=-all -- "$@" ;;
esac
"""
"""Prints its first word, if any, when it runs; then becomes a command: of a user, in a folder, with a limit on the size
of a file in blocks.

Where the program gives root every capability of its own user namespace, it gives up the others.
"""
PROTECT = """\
set -e
shut() { mount --bind $1 $1 && mount -o remount,bind,ro,nosuid,nodev $1; }
for path in /proc/bus /proc/fs /proc/irq /proc/sys /proc/sysrq-trigger; do [ ! -e $path ] || shut $path; done
for path in /proc/kcore /proc/keys /proc/timer_list; do [ ! -e $path ] || mount --bind /dev/null $path; done
mount -t sysfs -o ro,nosuid,nodev,noexec sysfs /sys 2> /dev/null || shut /sys
"""
"""Keeps root in the box from the kernel's settings, and from seeing those of the machine's network.

Without root, ``/sys`` is the machine's until it is mounted anew; as root, it is the box's already, and cannot be.
"""
GET = '[ -e "$1" ] || [ -L "$1" ] || exit 44; exec tar -C "$(dirname "$1")" -c -- "$(basename "$1")"'


@dataclass(frozen=True, slots=True)
class Place:
    name: str
    folder: Path
    """Holds what the box writes."""
    image: Path
    env: tuple[str, ...] = ()

    @property
    def overlay(self) -> Path:
        """The folder that lies over the image."""
        return self.folder / "overlay"


class ApptainerBox(Box):
    """An instance that has been started; the engine removes it."""

    create_seconds = 0.0
    deliver_seconds = 0.0
    start_seconds = 0.0

    def __init__(self, program: ApptainerProgram, place: Place, limits: Limits, pid: int, token: str) -> None:
        """Take an instance by its first process; ``token`` names it in the kernel's files about that process."""
        self._program, self._place, self._limits, self._pid, self._token = program, place, limits, pid, token
        self.attached = self
        self._lock = threading.Lock()
        self._end: BoxEnd | None = None
        try:
            self._process = os.pidfd_open(pid)
        except OSError as error:
            raise EngineError(f"the instance ended as it started: {error.strerror}") from error

    @property
    def is_alive(self) -> bool:
        """Whether anything can run in it."""
        return not select.select([self._process], [], [], 0)[0]

    @property
    def was_ended(self) -> bool:
        return self._end is not None

    def exec(
        self,
        command: Sequence[str],
        *,
        user: str = "root",
        workdir: str = "/",
        env: Mapping[str, str] | None = None,
        seconds: float = 60.0,
        output_bytes: int = 1024 * 1024,
    ) -> ExecResult:
        began = time.monotonic()
        mark = secrets.token_hex(16).encode() + b"\n"
        output = CappedOutput(output_bytes + len(mark))
        process = subprocess.Popen(
            self._make_user_command(mark.decode().strip(), command, user, workdir, env),
            env=self._program.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd="/",
        )
        with process, Watch(DISK_POLL, self._disk_is_full, self.kill) as disk, Deadline(seconds, self.kill) as deadline:
            reader = threading.Thread(target=self._read, args=(process, output), daemon=True)
            reader.start()
            exit_code = _wait(process, seconds + GRACE)
            deadline.cancel()
            reader.join(DRAIN)
        printed = output.text()
        if not printed.startswith(mark):
            raise EngineError(f"{self._program.name} exec failed ({exit_code}): {last_line(printed)}")
        taken = time.monotonic() - began
        disk_exceeded = disk.fired or exit_code == FILE_TOO_LARGE
        return ExecResult(exit_code, printed[len(mark) :], taken, deadline.fired, output.truncated, disk_exceeded)

    def attach(self, command: Sequence[str], user: str, workdir: str, env: Mapping[str, str]) -> ExecResult:
        began = time.monotonic()
        inside = self._make_user_command("", command, user, workdir, env)
        with Watch(DISK_POLL, self._disk_is_full, self.kill) as disk:
            done = subprocess.run(inside, env=self._program.environment(), cwd="/", check=False)
        code = done.returncode if done.returncode >= 0 else 128 - done.returncode
        return ExecResult(code, b"", time.monotonic() - began, disk_exceeded=disk.fired)

    def _make_user_command(
        self, mark: str, command: Sequence[str], user: str, workdir: str, env: Mapping[str, str] | None
    ) -> list[str]:
        own = (name.removeprefix("CAP_") for name in self._limits.capabilities)
        capabilities = [*SUPERVISING, *(f"CAP_{name}" for name in own)]
        kept = ",".join(f"+{name.removeprefix('CAP_').lower()}" for name in capabilities)
        narrow = f"--bounding-set=-all,{kept}" if self._program.as_root else ""
        blocks = str(2 * self._limits.disk_mb * MIB // BLOCK)
        variables = [PATH, *self._place.env, *(f"{name}={value}" for name, value in (env or {}).items())]
        words = ["sh", mark, user, workdir, blocks, narrow, *command]
        return self._make_command(capabilities, "/usr/bin/env", "-i", *variables, "/bin/sh", "-c", RUN, *words)

    def _read(self, process: "subprocess.Popen[bytes]", output: CappedOutput) -> None:
        assert process.stdout is not None
        with suppress(OSError, ValueError):  # closed beside this, when its time is over
            while chunk := os.read(process.stdout.fileno(), 65536):
                if output.add(chunk):
                    self.kill()

    def _disk_is_full(self) -> bool:
        return (
            measure_folder(self._place.overlay) + count_unlinked_bytes(self._pid, self._token)
            > self._limits.disk_mb * MIB
        )

    def kill(self) -> None:
        """Kill everything in the box; does nothing if it has ended."""
        with self._lock:
            if self._end is None:
                limited = processes_were_limited(self._pid, self._token)
                self._end = BoxEnd(memory_ran_out(self._pid, self._token), limited)
            with suppress(OSError):
                signal.pidfd_send_signal(self._process, signal.SIGKILL)

    def protect(self) -> None:
        """Keep root in the box from what belongs to the whole machine. Call it before any code of a patch runs."""
        self._run(self._make_command(MOUNTING, "/bin/sh", "-c", PROTECT), b"")

    def put(self, archive: bytes, to: str = "/") -> None:
        self._run(self._make_command(WRITING, "tar", "-x", "-p", "--same-owner", "--numeric-owner", "-C", to), archive)

    def _run(self, command: Sequence[str], sent: bytes) -> None:
        env = self._program.environment()
        try:
            done = subprocess.run(
                command, env=env, cwd="/", input=sent, capture_output=True, timeout=COPY_SECONDS, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise EngineError(f"{self._program.name} exec failed: {error}") from error
        if done.returncode:
            raise EngineError(f"{self._program.name} exec failed ({done.returncode}): {last_line(done.stderr)}")

    def get(self, path: str, max_bytes: int) -> dict[str, bytes]:
        words = ("/bin/sh", "-c", GET, "sh", path)
        command = self._make_command(READING, *words) if self.is_alive else self._make_reading_command(*words)
        data = CappedOutput(max_bytes + MIB)
        with subprocess.Popen(
            command,
            env=self._program.environment(),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            assert process.stdout is not None
            while chunk := process.stdout.read(MIB):
                if data.add(chunk):
                    process.kill()
                    return {}
            status = _wait(process, COPY_SECONDS)
        if status == NOT_THERE:
            return {}
        if status not in (0, PARTLY):
            raise EngineError(f"{self._program.name} could not read {path} of the box ({status})")
        return extract_files(data.text(), max_bytes)

    def _make_command(self, capabilities: Sequence[str], *words: str) -> list[str]:
        return self._program.command("exec", *_only(capabilities), f"instance://{self._place.name}", *words)

    def _make_reading_command(self, *words: str) -> list[str]:
        """Make a command over the files of a box that has ended; it sees nothing else, nor the kernel's settings."""
        shut = ("--no-mount", "proc,sys,tmp,home,cwd,hostfs,bind-paths", "--contain", "--no-home", "--pid")
        over = ("--net", "--network", "none", "--overlay", f"{self._place.overlay}:ro")
        return self._program.command(
            "exec", *self._program.as_root, *shut, *over, *_only(READING), str(self._place.image), *words
        )

    def end(self) -> BoxEnd:
        if not self.is_alive and not self.was_ended:
            raise EngineError("somebody else ended the container while tests ran in it")
        self.kill()
        if not select.select([self._process], [], [], GRACE)[0]:
            raise EngineError(f"{self._program.name} could not end the container")
        assert self._end is not None
        return self._end

    def close(self) -> None:
        os.close(self._process)


def measure_folder(folder: Path) -> int:
    """Count the bytes of disk that a folder takes, a file with several names once."""
    sizes: dict[tuple[int, int], int] = {}
    for here, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                found = os.lstat(os.path.join(here, name))  # noqa: PTH118 - names of any bytes, and many of them
                sizes[found.st_dev, found.st_ino] = found.st_blocks * BLOCK
    return sum(sizes.values())


def _only(capabilities: Sequence[str]) -> list[str]:
    return ["--cleanenv", "--no-privs", "--add-caps", ",".join(capabilities)]


def _wait(process: "subprocess.Popen[bytes]", seconds: float) -> int:
    """Wait for the exit status as a shell gives it; raises EngineError if the program itself hangs."""
    try:
        status = process.wait(seconds)
    except subprocess.TimeoutExpired as error:
        process.kill()
        raise EngineError(f"the container engine does not answer: {error}") from error
    return status if status >= 0 else 128 - status
