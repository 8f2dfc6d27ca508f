"""Locks of Python packages as of a date, resolved in a container: a project's setup script never runs on the host."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from hashlib import sha256
from pathlib import Path

from assay.harness.domain import Instance, Limits, Recipe, Service, TreeRef
from assay.harness.engines.base import LABEL, BoxSpec, Engine, name_reached_limit
from assay.harness.engines.tars import pack_tar
from assay.harness.errors import EngineError, EnvironmentFailure
from assay.harness.program_output import find_cause
from assay.instances.environments.pins.build_system import BuildSystem
from assay.instances.toolchains.buildfiles import build_text
from assay.instances.toolchains.images import Toolchain
from assay.instances.trees.sources import tree_ref

SECONDS = 900.0
LOCK_BYTES = 16 * 1024 * 1024

NO_ANSWER = re.compile(
    r"^ *(?:(?:error|cause|Caused by): )?"
    r"(?:error sending request for url|HTTP status server error|Request failed after)",
    re.MULTILINE,
)
"""Lines of uv's about an index that cannot be reached or fails; a setup script that uv runs says other things."""
RUNNER = ("pytest",)  # packages added to the project's own if the recipe names none

OWN_DATES = {
    "atomicwrites": "2022-07-09T00:00:00Z",  # its old files were uploaded anew
    "pandas": "2019-07-20T00:00:00Z",  # uv refuses what 0.24 and earlier releases require, `pytz>=2011k`
    "setuptools": "2019-02-06T00:00:00Z",  # uv takes 40.8 or later for every setup script
}
"""Packages that are taken as of a date of their own if the cut-off is earlier."""


@dataclass(frozen=True, slots=True)
class LockRequest:
    """Everything that determines a lock."""

    tree: TreeRef | None
    """None for packages that belong to no tree."""
    toolchain: str
    """``Toolchain.identity`` of the image in which it is resolved."""
    cutoff: str
    requirements: tuple[str, ...]
    files: tuple[str, ...] = ()
    """Requirement files inside the tree."""
    constraints: tuple[str, ...] = ()
    exports: str = ""
    """Shell text that exports variables for the project's build."""

    @property
    def owner(self) -> str:
        return self.tree.repo if self.tree else f"a service ({' '.join(self.requirements)})"

    @property
    def key(self) -> str:
        return sha256(repr((astuple(self), _script())).encode()).hexdigest()[:24]


def lock_request(
    instance: Instance, recipe: Recipe, toolchain: Toolchain, system: BuildSystem, date: str
) -> LockRequest:
    extras = f"[{','.join(recipe.extras)}]" if recipe.extras else ""
    asks_project = system.backend and recipe.metadata
    return LockRequest(
        tree=tree_ref(instance),
        toolchain=toolchain.identity,
        cutoff=date,
        # The project by its path: no release of it may come from the index.
        requirements=(*([f"/testbed{extras}"] if asks_project else []), *system.requires, *(recipe.packages or RUNNER)),
        files=recipe.requirements or system.requirement_files,
        constraints=recipe.constraints,
        exports=exports(instance, recipe),
    )


def service_lock_request(service: Service, toolchain: Toolchain, date: str) -> LockRequest:
    return LockRequest(None, toolchain.identity, date, requirements=service.packages)


def bounds(newest: str) -> tuple[str, ...]:
    """Return uv's options that exclude later uploads, also from the build requirements of source packages."""
    late = (f"--exclude-newer-package={name}={date}" for name, date in OWN_DATES.items() if newest < date)
    return (f"--exclude-newer={newest}", *late)


def exports(instance: Instance, recipe: Recipe) -> str:
    """Return shell text with the version for build tools that read it from git tags, which the tree lacks."""
    if not (recipe.pretend_version and instance.version):
        return ""
    names = ("SETUPTOOLS_SCM_PRETEND_VERSION", "PBR_VERSION")
    return "".join(f"export {name}={shlex.quote(instance.version)}\n" for name in names)


def resolve_lock(
    request: LockRequest, image: str, engine: Engine, tree: Path | None, files: Mapping[str, Path], preferred: str = ""
) -> str:
    """Resolve a lock in a container of the toolchain, with network access.

    Args:
        tree: tar of the request's tree, if it has one.
        files: path in the container to host file (uv and the host's network settings), mounted read-only.
        preferred: a lock whose versions are taken wherever the requirements allow them.

    Returns:
        Exact versions with hashes, in pip's requirements format, without the project itself.

    Raises:
        EnvironmentFailure: nothing satisfies the requirements; carries uv's output.
        EngineError: an index did not answer, which says nothing about the requirements.
    """
    limits = Limits(network=True, cpus=2.0, seconds=SECONDS)
    mounts = {str(host): box for box, host in files.items()}
    with engine.open(BoxSpec(image, limits, {f"{LABEL}.kind": "lock"}, mounts=mounts)) as box:
        box.put(_delivery(request, preferred))
        if tree:
            box.put(tree.read_bytes(), "/testbed")
        done = box.exec(["sh", "/build/lock.sh"], seconds=SECONDS)
        lock = box.get("/build/lock.txt", LOCK_BYTES)
        reached = name_reached_limit(done, box.end(), limits)
    if done.exit_code != 0 or not lock:
        said = done.output.decode(errors="replace").strip()
        problem = reached or (said.splitlines()[-1] if said else "no message")
        if not reached and NO_ANSWER.search(said):
            raise EngineError(f"an index of packages did not answer for {request.owner}: {problem}")
        cause = find_cause(said) or problem
        what = f"packages of {request.owner} as of {request.cutoff} cannot be resolved: {cause}"
        raise EnvironmentFailure(what, tail=said, cause=cause)
    return drop_local(next(iter(lock.values())).decode())


def drop_local(lock: str) -> str:
    """Drop the packages in the tree itself, which are installed later, in editable mode."""
    local = re.compile(r"-e |\./|/|file:|.* @ file:")
    return "".join(line for line in lock.splitlines(keepends=True) if not local.match(line))


def _delivery(request: LockRequest, preferred: str) -> bytes:
    texts = {"lock.txt": preferred} if preferred else {}  # uv keeps the versions of the file that it overwrites
    texts |= {
        "lock.sh": _script(),
        "project.sh": request.exports,
        "bounds": _lines(bounds(request.cutoff)),
        "requirements.in": _lines(request.requirements),
        "constraints.in": _lines(request.constraints),
        "files": "".join(f"{path}\0" for path in request.files),
    }
    return pack_tar({f"build/{name}": text for name, text in texts.items()}, ["build", "testbed"])


def _lines(items: tuple[str, ...]) -> str:
    return "".join(f"{item}\n" for item in items)


def _script() -> str:
    return build_text("lock.sh", "python")
