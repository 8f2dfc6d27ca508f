"""A run that several processes share, on any machines that see its folder.

    <runs>/<run>.members/<member>/            the run of one process, with what it has evaluated
                         <member>/heartbeat   changes while the process lives, says ``ended`` when it has ended
                         claims/<id>          names the member that evaluates an instance
    <runs>/<run>/                             all of it as one run; put here by rename(2) when all has a verdict

It holds on network file systems: nothing is locked. A claim is made by link(2) and taken from the dead by rename(2),
each of which succeeds for one process only. Its answer may be lost on the way, so what is there afterwards decides. No
clock is compared with another machine's: a member is dead if its heartbeat stays the same for STALE seconds of the
watcher's clock.

A member that was only slow may still finish what was taken from it. Claims save work, then; what counts is the verdict
of the member that the claim names when the runs are merged.
"""

import errno
import os
import re
import shutil
import socket
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from assay.harness.domain import INFRASTRUCTURE, Verdict
from assay.harness.errors import UserError
from assay.harness.evaluation.evaluate import Task
from assay.harness.files import read_model
from assay.harness.runs.keys import content_key, full
from assay.harness.runs.manifest import ANOTHER, Run
from assay.harness.runs.merge import check_alike, plan_merge, write_merge
from assay.harness.runs.runner import Runner
from assay.harness.runs.saved import SavedVerdict
from assay.harness.runs.store import RunStore

STALE = 60.0
"""Seconds without a heartbeat after which a member is dead."""
LATER = 2.0
"""Seconds until an instance that another member has is asked about again."""
ENDED = b"ended"
MERGE = ".merge"
"""What the member claims that puts the run together; no instance has this id."""


class RunMember:
    """This process in a shared run; safe in several threads. ``output`` is the folder of the whole run."""

    def __init__(self, output: Path) -> None:
        host = re.sub(r"[^A-Za-z0-9-]+", "-", socket.gethostname())
        self.name = f"{host}-{os.getpid()}-{uuid.uuid4().hex[:6]}"
        self.output = output
        self.folder = output.with_name(f"{output.name}.members")
        self.store = self._store(self.folder / self.name)
        self._claims = self.folder / "claims"
        self._token = self.store.root / "claim"
        """Names this member; its further names are claims."""
        self._seen: dict[str, tuple[bytes, float]] = {}
        """The heartbeat of each member, and when it was first seen like that."""
        self._has_ended = threading.Event()

    @contextmanager
    def alive(self) -> Iterator[None]:
        """Be a member within the block; what it has claimed is free afterwards.

        Raises:
            UserError: the folder of the run holds something else, or the file system has no hard links.
        """
        self.check_output()
        self._claims.mkdir(parents=True, exist_ok=True)
        self.store.root.mkdir()
        self._beat(b"0")
        self._token.write_text(self.name)
        beating = threading.Thread(target=self._keep_beating, name="assay-heartbeat", daemon=True)
        beating.start()
        try:
            self._check_links()
            yield
        finally:
            self._has_ended.set()
            beating.join(1)
            self._beat(ENDED)

    def check_output(self) -> None:
        """Raise UserError if the folder of the run holds anything but what a merge left there."""
        run = read_model(self.output / "run.json", Run)
        if (run is None or not run.merged) and self.output.exists() and any(self.output.iterdir()):
            raise UserError(f"{self.output} holds something that was not made with --share; {ANOTHER}")

    def check_alike(self) -> None:
        """Leave again, and raise UserError, if other members were given something else than this one."""
        others = [each for each in self.sources() if each.root != self.store.root]
        try:
            if others:
                both = (others[0], self.store)
                check_alike(both, [each.load_run() for each in both], ANOTHER)
        except UserError:
            shutil.rmtree(self.store.root, ignore_errors=True)
            raise

    def sources(self) -> list[RunStore]:
        """Return the runs of all members that there have been."""
        named = {*self.folder.glob("*"), *self.owners().values()}
        return [self._store(each) for each in sorted(named) if (each / "run.json").is_file()]

    def owners(self) -> dict[str, Path]:
        """Return the folder of the member that has claimed it, by instance id."""
        found = {path.name: self.owner(path.name) for path in self._claims.glob("[!.]*")}
        return {name: self.folder / owner for name, owner in found.items() if owner}

    def owner(self, name: str) -> str:
        """Return the member that a claim names; empty if there is none."""
        return self._named_in(self._claims / name)

    def verdict_of(self, owner: str, instance_id: str) -> SavedVerdict | None:
        """Return what a member has found about an instance."""
        return self._store(self.folder / owner).load_verdict(instance_id)

    def take(self, name: str) -> bool:
        """Claim an instance; return whether it is this member's. The claim of a dead member is no hindrance."""
        path = self._claims / name
        self._link(path)
        owner = self.owner(name)
        if owner not in {"", self.name} and self._is_dead(owner) and self._freed(path, owner):
            self._link(path)
            owner = self.owner(name)
        return owner == self.name

    def _link(self, path: Path) -> None:
        """Try to make a claim; whether it was made, the file says."""
        try:
            os.link(self._token, path)
        except OSError as error:
            if error.errno == errno.EMLINK:  # a file can have so many names
                token = self._token.with_name(f"claim-{uuid.uuid4().hex[:6]}")
                with suppress(OSError):
                    token.write_text(self.name)
                    os.link(token, path)
                    self._token = token

    def _freed(self, path: Path, owner: str) -> bool:
        """Take a claim from its dead owner; return whether this process did, and not another."""
        aside = path.with_name(f".{uuid.uuid4().hex}")
        with suppress(OSError):
            if self._named_in(path) == owner:
                path.rename(aside)
        taken = self._named_in(aside)
        if taken not in {"", owner}:  # another was faster, and this was its claim
            with suppress(OSError):
                os.link(aside, path)
        with suppress(OSError):
            aside.unlink()
        return taken == owner

    def _is_dead(self, member: str) -> bool:
        beat, now = self._read(self.folder / member / "heartbeat"), time.monotonic()
        known, since = self._seen.get(member, (None, now))
        if beat != known:
            self._seen[member] = (beat, now)
            return beat == ENDED
        return beat == ENDED or now - since > STALE

    def _keep_beating(self) -> None:
        number = 0
        while not self._has_ended.wait(STALE / 6):
            number += 1
            self._beat(str(number).encode())

    def _beat(self, content: bytes) -> None:
        with suppress(OSError):  # the next one may succeed
            (self.store.root / "heartbeat").write_bytes(content)

    def _can_link(self) -> bool:
        probe = self._claims / f".{uuid.uuid4().hex}"
        self._link(probe)
        owner = self._named_in(probe)
        with suppress(OSError):
            probe.unlink()
        return owner == self.name

    def _check_links(self) -> None:
        if not any(self._can_link() for _ in range(5)):  # an answer may be lost
            raise UserError(f"{self.folder}: --share needs a file system with hard links; give another --runs-dir")

    def _store(self, root: Path) -> RunStore:
        return RunStore(root, runs=self.output.parent, locks=False)

    def _named_in(self, path: Path) -> str:
        return self._read(path).decode(errors="replace")

    def _read(self, path: Path) -> bytes:
        try:
            return path.read_bytes()  # opened anew: a network file system asks its server then
        except OSError:
            return b""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedRunner(Runner):
    """Evaluates what no other member does; the Work of a Crew."""

    member: RunMember
    _failed: dict[str, str] = field(default_factory=dict)
    """The member by instance id, where the infrastructure had failed when this process began: as a resumed run does, it
    tries again, once that member has ended."""
    _asked: dict[str, float] = field(default_factory=dict)
    """When each claim was last asked for."""

    def known(self, task: Task) -> SavedVerdict | None:
        """Return the verdict that some member has on the same content, unless the infrastructure failed."""
        owner, saved = self._found(task)
        if saved is not None and saved.verdict.outcome in INFRASTRUCTURE:
            self._failed[task.instance.id] = owner
            return None
        return saved

    def claim(self, task: Task) -> tuple[bool, SavedVerdict | None]:
        """Return whether an evaluation is this member's, and its verdict if there is one; see the Protocol."""
        name = task.instance.id
        wait = self._asked.get(name, -LATER) + LATER - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        self._asked[name] = time.monotonic()
        owner, saved = self._found(task)
        if saved is not None and self._failed.get(name) != owner:
            return False, saved
        if not self.member.take(name):
            return False, None
        return True, Runner.known(self, task)

    def _found(self, task: Task) -> tuple[str, SavedVerdict | None]:
        """Return the member that has claimed an evaluation, and its verdict; raises UserError."""
        name = task.instance.id
        owner = self.member.owner(name)
        saved = self.member.verdict_of(owner, name) if owner else None
        if saved is not None and saved.key not in {content_key(each) for each in (task, full(task)) if each}:
            raise UserError(
                f"{self.member.folder / owner} evaluated {name} with other content than this process would: "
                f"use the same recipes and images everywhere, or {ANOTHER}"
            )
        return owner, saved


def put_together(member: RunMember, verdicts: Sequence[Verdict]) -> None:
    """Wait until all members' runs have become one run, or make them one; these are the verdicts that it has.

    Raises:
        UserError: the verdict of some member cannot be read.
    """
    output, wanted = RunStore(member.output), {each.instance_id: each for each in verdicts}
    while not _is_made(output, wanted):
        if member.take(MERGE):
            _merge(member)
            return
        time.sleep(LATER)


def _is_made(output: RunStore, wanted: Mapping[str, Verdict]) -> bool:
    if output.load_report() is None:
        return False
    return {each.verdict.instance_id: each.verdict for each in output.load_verdicts()} == wanted


def _merge(member: RunMember) -> None:
    latest = time.monotonic() + STALE
    while (planned := plan_merge(member.sources(), member.output.name, member.owners())).missing:
        if time.monotonic() > latest:  # it could not be written, or is not seen from this machine
            raise UserError(f"{planned.missing[0]}; run the same command again")
        time.sleep(LATER)
    new = RunStore(member.store.root / "merged", runs=member.output.parent, locks=False)
    write_merge(planned, new, lambda: None)
    member.check_output()
    _publish(new.root, member.output)


def _publish(new: Path, place: Path) -> None:
    """Put a folder in the place of another, whole; of several processes at once, the last counts."""
    for attempt in range(10):
        old = new.with_name(f"replaced-{attempt}")
        with suppress(OSError):
            place.rename(old)
        shutil.rmtree(old, ignore_errors=True)
        with suppress(OSError):
            new.rename(place)
        if not new.exists():
            return
    raise UserError(f"{place} cannot be replaced; look who may write there")
