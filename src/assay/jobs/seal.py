"""Sealing tasks: what their verifiers download is recorded once, and answered without a network from then on."""

import json
import shutil
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from assay.harness.domain import Instance, Status
from assay.harness.engines.base import Engine
from assay.harness.errors import EngineError, EnvironmentFailure, ImageMissing, UserError
from assay.harness.files import check_folder, default_cache, replace_file
from assay.instances.dataset.formats.harbor_folder import task_folders
from assay.instances.verifiers.installs import read_installs
from assay.instances.verifiers.rehearsal import Rehearsal, list_lookups
from assay.instances.verifiers.relay import build_relay
from assay.instances.verifiers.sealed_folder import (
    SEALED,
    DownloadingTask,
    make_downloading_task,
    read_files,
    write_script,
    write_sealed,
)
from assay.jobs.workplace import Workplace

RECORD = "seal.json"


@dataclass(frozen=True, slots=True)
class TaskSeal:
    """What became of one task, as ``tests/sealed/seal.json`` says of a sealed one."""

    id: str
    problem: str = ""
    """Why it could not be sealed."""
    requests: int = 0
    bytes: int = 0
    """Size of the answers."""
    hosts: tuple[str, ...] = ()
    unpinned: tuple[str, ...] = ()
    """Packages in the scripts without a version; the answers hold the one of the day."""
    made_from: str = ""
    """Hash of the task, its image and the relay."""
    seconds: float = 0.0
    broke: bool = field(default=False, compare=False)
    """Whether the engine failed, so that another attempt may do better."""


def find_tasks(dataset: str, instances: Sequence[Instance]) -> list[DownloadingTask]:
    """Find the folders of loaded tasks; raises DataError for one that cannot be sealed, or UserError."""
    folders = {path.resolve().name: path for path in task_folders(Path(dataset))}
    if not folders:
        raise UserError(f"{dataset} is no folder of Harbor's tasks, each with task.toml; name one")
    return [make_downloading_task(each, folders[each.id]) for each in instances]


def open_sealing(place: Workplace, output: Path, files: Path | None = None) -> "TaskSealing":
    """Prepare to seal tasks into a folder; raises UserError, EngineUnavailable, or EnvironmentFailure for the relay."""
    if files:
        check_folder(files, "folder of files")
    images = place.images
    if images is None:
        raise UserError(f"the engine {place.engine} runs no containers; sealing needs one that does, such as docker")
    toolchains = images.planner.toolchains
    return TaskSealing(
        images.engine, build_relay(images.engine, toolchains, default_cache(), place.view.note), output, files
    )


@dataclass(frozen=True, slots=True)
class TaskSealing:
    """Seals tasks into a folder; the Work of a Crew."""

    engine: Engine
    relay: bytes
    output: Path
    files: Path | None = None
    """Folder with HOST/PATH of hosts that are not asked."""
    _ended: threading.Event = field(default_factory=threading.Event)

    def key(self, task: DownloadingTask) -> str:
        return task.id

    def find_known(self, task: DownloadingTask) -> TaskSeal | None:
        file = self.output / task.id / "tests" / SEALED / RECORD
        try:
            said = TaskSeal(**json.loads(file.read_bytes()))
        except (OSError, ValueError, TypeError):
            return None
        return said if said.made_from == self._hash(task) else None

    def plan(self, pending: Mapping[str, DownloadingTask], _total: int) -> list[str]:
        return list(pending)

    def begin(self, _task: DownloadingTask, _number: int) -> None: ...

    def attempt(self, task: DownloadingTask, _number: int) -> TaskSeal:
        began = time.monotonic()
        try:
            found = self._seal(task)
        except (EnvironmentFailure, ImageMissing, OSError) as error:
            found = TaskSeal(task.id, str(error))
        except EngineError as error:
            found = TaskSeal(task.id, str(error), broke=True)
        return replace(found, seconds=time.monotonic() - began)

    def may_retry(self, _task: DownloadingTask, found: TaskSeal) -> bool:
        return found.broke and not self._ended.is_set()

    def save(self, task: DownloadingTask, found: TaskSeal) -> TaskSeal:
        """Put a finished folder in place, with its record; nothing of one that failed stays."""
        scratch, target = self._scratch(task), self.output / task.id
        if not found.problem:
            record = {name: value for name, value in asdict(found).items() if name != "broke"}
            replace_file(scratch / "tests" / SEALED / RECORD, json.dumps(record, indent=1).encode())
            shutil.rmtree(target, ignore_errors=True)
            scratch.rename(target)
        shutil.rmtree(scratch, ignore_errors=True)
        return found

    def abort(self) -> None:
        self._ended.set()
        self.engine.abort()

    def _scratch(self, task: DownloadingTask) -> Path:
        return self.output / f".{task.id}.partial"

    def _hash(self, task: DownloadingTask) -> str:
        info = self.engine.find_image(task.image)
        return task.hash(info.digest if info else "", sha256(self.relay).hexdigest())

    def _seal(self, task: DownloadingTask) -> TaskSeal:
        if self.engine.find_image(task.image) is None:
            self.engine.pull(task.image)
        scripts = {name: text.decode(errors="replace") for name, text in read_files(task.folder / "tests").items()}
        installs = read_installs({name: text for name, text in scripts.items() if name.endswith(".sh")})
        rehearsal, scratch = Rehearsal(self.engine, task, self.relay, self.files), self._scratch(task)
        kept, tree = rehearsal.record(installs)
        shutil.rmtree(scratch, ignore_errors=True)
        write_sealed(task, kept, self.relay, scratch)
        gold = rehearsal.check(scratch, tree)
        if gold.status is not Status.PASSED:
            raise EnvironmentFailure(f"sealed, with its solution, the verifier gives {gold.describe()}")
        write_script(task, list_lookups(gold), scratch)
        null = rehearsal.check(scratch, None)
        if null.status is not Status.FAILED:
            raise EnvironmentFailure(f"sealed, without its solution, the verifier gives {null.describe()}")
        requests = json.loads(kept["index.json"])
        return TaskSeal(
            task.id,
            requests=len(requests),
            bytes=sum(map(len, kept.values())),
            hosts=tuple(sorted({each["url"].split("/")[2] for each in requests})),
            unpinned=tuple(dict.fromkeys(each.what for each in installs if not each.is_pinned)),
            made_from=self._hash(task),
        )
