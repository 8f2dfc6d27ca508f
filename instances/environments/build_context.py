"""Writes the build context of an image: its Dockerfile and scripts, its tree or what changes in it, and downloads."""

import re
import shutil
import tarfile
import zipfile
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from pydantic import TypeAdapter

from assay.harness.domain import Download, ImageSpec, ReleaseDownload, TreeDownload, TreeRef
from assay.harness.errors import EnvironmentFailure
from assay.instances.environments.image_specs import DOWNLOADS, LOCK_FILE
from assay.instances.toolchains.host import linux_uv
from assay.instances.trees.assets import fetch
from assay.instances.trees.content import SUBMODULE, read_tar, write_tar
from assay.instances.trees.indexes import download
from assay.instances.trees.sources import Sources

AnyDownload = Download | ReleaseDownload | TreeDownload
_DOWNLOAD: TypeAdapter[AnyDownload] = TypeAdapter(AnyDownload)
_MOUNT = re.compile(r"(?<=\s)--mount=(\S+)")


def write_context(spec: ImageSpec, sources: Sources, folder: Path) -> None:
    """Write the build context of an image into a new folder; raises EnvironmentFailure."""
    for name, text in {"Dockerfile": name_caches(spec.dockerfile, spec.caches or spec.name), **spec.files}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    if spec.tree is not None:
        _put_tree(spec.tree, spec.over, sources, folder / "tree")
    if LOCK_FILE in spec.files:
        shutil.copy2(linux_uv(sources.cache), folder / "uv")
    for line in spec.files.get(DOWNLOADS, "").splitlines():
        _put_download(_DOWNLOAD.validate_json(line), sources, folder / "downloads")


def name_caches(dockerfile: str, owner: str) -> str:
    """Return a Dockerfile whose cache mounts are the owner's alone; a builder shares those of one path with all builds.

    Whatever names the Dockerfile has given them, as one of a stranger's lock may, are replaced. Raises
    EnvironmentFailure for a mount that a builder may read otherwise.
    """
    mark = sha256(owner.encode()).hexdigest()[:16]

    def name(mount: re.Match[str]) -> str:
        if re.search(r"[\"'\\$]", mount[1]):
            raise EnvironmentFailure(
                f"a Dockerfile mounts {mount[1]}: write it on one line, without quotes or variables"
            )
        options = [each for each in mount[1].split(",") if each.partition("=")[0].lower() != "id"]
        if "type=cache" not in map(str.lower, options):
            return mount[0]
        target = next((each.partition("=")[2] for each in options if each.startswith("target=")), "")
        return f"--mount={','.join((*options, f'id={mark}{target}'))}"

    return _MOUNT.sub(name, dockerfile)


def _put_tree(tree: TreeRef, over: TreeRef | None, sources: Sources, folder: Path) -> None:
    """Write what turns one tree, or nothing, into another: ``changed.tar`` and the lists ``changed``, ``removed``."""
    folder.mkdir()
    packed, removed = folder / "changed.tar", tuple[str, ...]()
    if over is None:
        shutil.copyfile(sources.tree(tree), packed)
    else:
        changes = sources.changes(over, tree)
        removed = changes.removed
        with packed.open("wb") as to:
            write_tar(changes.entries, to)
    changed = (entry.path for entry in read_tar(packed) if entry.mode != SUBMODULE)
    (folder / "changed").write_bytes(_list(changed))
    (folder / "removed").write_bytes(_list(removed))


def _list(paths: Iterable[str]) -> bytes:
    return b"".join(path.encode(errors="surrogateescape") + b"\0" for path in paths)


def _put_other_tree(wanted: TreeDownload, sources: Sources, file: Path) -> None:
    packed = sources.tree(TreeRef(wanted.repo, wanted.commit))
    if file.suffix == ".tar":
        shutil.copyfile(packed, file)
        return
    file.mkdir()
    try:
        with tarfile.open(packed) as tree:
            tree.extractall(file, filter="data")
    except tarfile.FilterError as error:
        raise EnvironmentFailure(f"the tree of {wanted.repo} leads out of its folder: {error}") from None


def _put_download(wanted: AnyDownload, sources: Sources, folder: Path) -> None:
    file = folder / wanted.path
    file.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(wanted, TreeDownload):
        _put_other_tree(wanted, sources, file)
        return
    file.write_bytes(
        _read_release_file(wanted, sources) if isinstance(wanted, ReleaseDownload) else fetch(wanted, sources)
    )


def _read_release_file(wanted: ReleaseDownload, sources: Sources) -> bytes:
    archive = download(wanted, sources.cache, sources.toolchains)
    if not wanted.member:
        return archive.read_bytes()
    try:
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(wanted.member)
    except (zipfile.BadZipFile, KeyError) as error:
        problem = f"{wanted.name} {wanted.version}: no wheel with a file {wanted.member}"
        raise EnvironmentFailure(problem) from error
