"""A sealed task as a folder of Harbor: its verifier in a container of its own, with the answers of its downloads.

tests/unsealed.sh           the verifier as it was
tests/test.sh               runs it behind the relay
tests/sealed/relay          the program
tests/sealed/answers.zip    what was downloaded, each file by its sha256, and the list of requests
tests/Dockerfile            the task's image without what the agent's container carries over, and the tests
"""

import io
import json
import re
import shlex
import shutil
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from assay.harness.domain import Instance, Limits, PublishedImage, Rule
from assay.harness.errors import DataError
from assay.instances.dataset.formats import harbor
from assay.instances.dataset.formats.columns import read_origin
from assay.instances.environments.row_script import read_script
from assay.instances.verifiers.relay import make_options

SEALED, UNSEALED = "sealed", "unsealed.sh"
RELAY, ANSWERS = "relay", "answers.zip"
BARE = re.compile(r"[A-Za-z\d_-]+")
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the first time that a zip can have
SECONDS = 1800.0  # least limit of a run: a recorded one waits for the network
DISK_MB = 16384


@dataclass(frozen=True, slots=True)
class DownloadingTask:
    """A task whose verifier shares the agent's container, and may download while it grades."""

    id: str
    folder: Path
    table: Mapping[str, Any]
    """Its ``task.toml``."""
    image: str
    workdir: str
    prepare: str
    """Shell text that begins each of its runs."""
    gold_patch: str
    limits: Limits

    @property
    def carried(self) -> tuple[str, ...]:
        """The folders that the verifier's container gets from the agent's."""
        listed = self.table.get("artifacts") or []
        found = [each.get("source") if isinstance(each, Mapping) else each for each in listed]
        return tuple(dict.fromkeys((*map(str, found), self.workdir)))

    def hash(self, *others: str) -> str:
        files = [f"{name} {sha256(content).hexdigest()}" for name, content in read_files(self.folder).items()]
        return sha256("\n".join((*files, *others)).encode()).hexdigest()


def make_downloading_task(instance: Instance, folder: Path) -> DownloadingTask:
    """Describe a task; raises DataError for one that cannot be sealed."""
    own = instance.environment
    if instance.rule is not Rule.HARBOR or not isinstance(own, PublishedImage):
        raise DataError("is no task of Harbor, whose folder has task.toml", instance=instance.id, field="rule")
    table = read_origin(instance, harbor.NAME)["task_toml"]
    verifier, environment = table.get("verifier") or {}, table.get("environment") or {}
    if (folder / "tests" / SEALED).exists():
        raise DataError("is sealed already; name the folder of the task as it was", file=str(folder))
    if own.verifier or verifier.get("environment") or verifier.get("environment_mode") == "separate":
        problem = "is separate: such a verifier's image can hold what it needs; only one that shares is sealed"
        raise DataError(problem, instance=instance.id, field="verifier.environment_mode")
    script = read_script(own.eval_script)
    limits = Limits(
        network=True,
        seconds=max(SECONDS, float(verifier.get("timeout_sec") or 0)),
        memory_mb=int(environment.get("memory_mb") or 4096),
        cpus=float(environment.get("cpus") or 1),
        disk_mb=DISK_MB,
    )
    prepare = "\n".join((*script.system, *script.prepare))
    return DownloadingTask(instance.id, folder, table, own.image, script.workdir, prepare, instance.gold_patch, limits)


def write_sealed(task: DownloadingTask, kept: Mapping[str, bytes], relay: bytes, target: Path) -> None:
    """Write a task with the answers to its downloads into a folder that does not exist yet."""
    shutil.copytree(task.folder, target, symlinks=True)
    sealed = target / "tests" / SEALED
    sealed.mkdir()
    (target / "tests" / "test.sh").rename(target / "tests" / UNSEALED)
    (sealed / RELAY).write_bytes(relay)
    (sealed / RELAY).chmod(0o755)
    (sealed / ANSWERS).write_bytes(_pack(kept))
    write_script(task, (), target)
    carried = shlex.join(task.carried)
    made = (f"FROM {task.image}", f"RUN rm -rf {carried}", "COPY . /tests/", f"RUN chmod +x /tests/{SEALED}/{RELAY}")
    (target / "tests" / "Dockerfile").write_text("\n".join((*made, "")), encoding="utf-8")
    (target / "task.toml").write_text(write_toml(_seal_table(task)), encoding="utf-8")


def write_script(task: DownloadingTask, names: Iterable[str], target: Path) -> None:
    """Write the script that runs the verifier; ``names`` are hosts that it may look up in vain."""
    options = {"store": f"/tests/{SEALED}/{ANSWERS}", "carried": ":".join(task.carried), "names": ",".join(names)}
    command = shlex.join([f"/tests/{SEALED}/{RELAY}", *make_options(options), "bash", f"/tests/{UNSEALED}"])
    text = f"#!/bin/bash\n# What {UNSEALED} downloads is answered from {SEALED}/{ANSWERS}.\nexec {command}\n"
    (target / "tests" / "test.sh").write_text(text, encoding="utf-8")
    (target / "tests" / "test.sh").chmod(0o755)


def read_files(folder: Path) -> dict[str, bytes]:
    """Read the files at or below a folder by their paths in it, sorted."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def _pack(kept: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:  # most answers are compressed as they are
        for name, content in sorted(kept.items()):
            archive.writestr(zipfile.ZipInfo(name, LONG_AGO), content)
    return packed.getvalue()


def _seal_table(task: DownloadingTask) -> dict[str, Any]:
    def keep(table: str, *names: str) -> dict[str, Any]:
        return {name: value for name, value in (task.table.get(table) or {}).items() if name not in names}

    network = ("allow_internet", "allowed_hosts", "network_mode")
    environment = {**keep("environment", "docker_image", "healthcheck", *network), "workdir": task.workdir}
    verifier = {"user": harbor.ROOT, **keep("verifier", *network), "environment_mode": "separate"}
    listed = [each.get("source") if isinstance(each, Mapping) else each for each in task.table.get("artifacts") or []]
    artifacts = [*(task.table.get("artifacts") or []), *(path for path in task.carried if path not in listed)]
    verifier["environment"] = {**environment, "network_mode": "no-network"}
    return {**task.table, "artifacts": artifacts, "verifier": verifier}


def write_toml(table: Mapping[str, Any], place: Sequence[str] = ()) -> str:
    """Write a table that was read from TOML: plain values first, then the tables in it."""
    plain = {name: value for name, value in table.items() if not isinstance(value, Mapping)}
    lines = [f"[{'.'.join(map(_write_key, place))}]"] if place else []
    lines += [f"{_write_key(name)} = {_write_value(value)}" for name, value in plain.items()]
    inner = [write_toml(value, (*place, name)) for name, value in table.items() if isinstance(value, Mapping)]
    return "\n\n".join(filter(None, ("\n".join(lines), *(each.rstrip("\n") for each in inner)))) + "\n"


def _write_value(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_write_key(name)} = {_write_value(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_write_value, value)) + "]"
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)  # numbers, infinite ones too, and dates as Python prints them


def _write_key(name: str) -> str:
    return name if BARE.fullmatch(name) else _quote(name)


def _quote(text: str) -> str:
    """Write a string; what JSON escapes TOML does, too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
