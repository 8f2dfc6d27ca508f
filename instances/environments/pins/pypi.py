"""Python packages as of a date, resolved inside a container: a project's setup script never runs on the host."""

import io
import shlex
import tarfile
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from datetime import UTC, datetime, time, timedelta
from hashlib import sha256
from pathlib import Path

from assay.harness.domain import Instance, Limits, Recipe, Service, TreeRef
from assay.harness.engines.base import LABEL, Engine
from assay.harness.errors import EnvironmentFailure
from assay.instances.environments.pins.project import BuildSystem
from assay.instances.toolchains.buildfiles import build_text
from assay.instances.toolchains.images import Toolchain
from assay.instances.toolchains.versions import versions_of
from assay.instances.trees.sources import tree_ref

SECONDS = 900.0
LOCK_BYTES = 16 * 1024 * 1024
RIPENING = timedelta(days=90)
"""After a Python comes out, wheels for it take some weeks to appear."""

RUNNER = ("pytest",)
"""What a recipe that names no packages needs on top of the project's own."""

REUPLOADED = {"atomicwrites": "2022-07-09T00:00:00Z"}
"""Packages whose old files were deleted and uploaded anew, to the day when that was done: their dates are too late."""


@dataclass(frozen=True, slots=True)
class LockRequest:
    """All that decides a lock."""

    tree: TreeRef | None
    """None: packages that belong to no tree."""
    toolchain: str
    """Identity of the image it is resolved in."""
    cutoff: str
    requirements: tuple[str, ...]
    files: tuple[str, ...]
    """Requirement files inside the tree."""
    constraints: tuple[str, ...]
    exports: str
    """Shell text that sets variables for the project's build."""

    @property
    def owner(self) -> str:
        """What the packages are for, in words."""
        return self.tree.repo if self.tree else f"a service ({' '.join(self.requirements)})"

    @property
    def key(self) -> str:
        """Name of the lock among all locks."""
        return sha256(repr((astuple(self), _script())).encode()).hexdigest()[:24]


def lock_request(instance: Instance, recipe: Recipe, toolchain: Toolchain, system: BuildSystem) -> LockRequest:
    """Say what has to be resolved for an instance; pure."""
    extras = f"[{','.join(recipe.extras)}]" if recipe.extras else ""
    return LockRequest(
        tree=tree_ref(instance),
        toolchain=toolchain.identity,
        cutoff=cutoff(instance, recipe),
        # The project by its path, so that nothing pulls in a release of it from the index.
        requirements=(f"/testbed{extras}", *system.requires, *(recipe.packages or RUNNER)),
        files=recipe.requirements,
        constraints=recipe.constraints,
        exports=exports(instance, recipe),
    )


def service_lock_request(instance: Instance, recipe: Recipe, service: Service, toolchain: Toolchain) -> LockRequest:
    """Say what has to be resolved for a service beside an instance's tests, with the same cut-off; pure."""
    return LockRequest(
        tree=None,
        toolchain=toolchain.identity,
        cutoff=cutoff(instance, recipe),
        requirements=service.packages,
        files=(),
        constraints=(),
        exports="",
    )


def cutoff(instance: Instance, recipe: Recipe) -> str:
    """Return the time after which no package may have been uploaded.

    It is the instance's own time, but never before the toolchain was in use: older packages do not run on it.
    """
    created = instance.created_at if instance.created_at.tzinfo else instance.created_at.replace(tzinfo=UTC)
    wanted = created + timedelta(days=recipe.cutoff_days)
    known = versions_of(recipe.language)
    version = known.versions.get(recipe.toolchain or known.default)
    moment = wanted
    if version and version.released:
        moment = max(wanted, datetime.combine(version.released, time.min, UTC) + RIPENING)
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def bounds(newest: str) -> tuple[str, ...]:
    """Return uv's options that keep everything to a time, also what source packages need for their build."""
    late = (f"--exclude-newer-package={name}={date}" for name, date in REUPLOADED.items() if newest < date)
    return (f"--exclude-newer={newest}", *late)


def exports(instance: Instance, recipe: Recipe) -> str:
    """Return shell text that gives version-control based build tools the version that the tree cannot tell."""
    if not (recipe.pretend_version and instance.version):
        return ""
    names = ("SETUPTOOLS_SCM_PRETEND_VERSION", "PBR_VERSION")
    return "".join(f"export {name}={shlex.quote(instance.version)}\n" for name in names)


def resolve(request: LockRequest, image: str, engine: Engine, tree: Path | None, files: Mapping[str, Path]) -> str:
    """Resolve a lock in a container of the toolchain.

    Args:
        request: what to resolve.
        image: the toolchain image.
        engine: where the container runs; it gets network access.
        tree: tar of the base tree, if the request has one.
        files: box path to host file: uv and the host's network settings, mounted read-only.

    Returns:
        Exact versions with hashes, in pip's requirements format, without the project itself.

    Raises:
        EnvironmentFailure: nothing satisfies the requirements; carries what uv said.
    """
    limits = Limits(network=True, cpus=2.0, seconds=SECONDS)
    mounts = {str(host): box for box, host in files.items()}
    with engine.open(image, limits, {f"{LABEL}.kind": "lock"}, mounts=mounts) as box:
        box.put(_delivery(request))
        if tree:
            box.put(tree.read_bytes(), "/testbed")
        done = box.exec(["sh", "/build/lock.sh"], seconds=SECONDS)
        lock = box.get("/build/lock.txt", LOCK_BYTES)
    if done.exit_code != 0 or not lock:
        said = done.output.decode(errors="replace").strip()
        problem = said.splitlines()[-1] if said else "no message"
        raise EnvironmentFailure(
            f"packages of {request.owner} as of {request.cutoff} cannot be resolved: {problem}", tail=said
        )
    return without_local(next(iter(lock.values())).decode())


def without_local(lock: str) -> str:
    """Drop what comes from the tree itself: it is installed later, editable, from the tree."""
    return "".join(line for line in lock.splitlines(keepends=True) if not _is_local(line))


def _is_local(line: str) -> bool:
    return line.startswith(("-e ", "./", "/", "file:")) or " @ file:" in line


def _delivery(request: LockRequest) -> bytes:
    texts = {
        "lock.sh": _script(),
        "project.sh": request.exports,
        "bounds": _lines(bounds(request.cutoff)),
        "requirements.in": _lines(request.requirements),
        "constraints.in": _lines(request.constraints),
        "files": "".join(f"{path}\0" for path in request.files),
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for folder in ("build", "testbed"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(entry)
        for name, text in texts.items():
            entry = tarfile.TarInfo(f"build/{name}")
            entry.size, entry.mode = len(text.encode()), 0o644
            tar.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


def _lines(items: tuple[str, ...]) -> str:
    return "".join(f"{item}\n" for item in items)


def _script() -> str:
    return build_text("lock.sh", "python")
