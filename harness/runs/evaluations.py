"""The saved evaluations of a run: a folder for each or, in a large run, archives of a thousand.

Of an instance that is in both, the archive's counts: a run only grows. What PatchDiff found, and repetitions, are in
folders always.
"""

import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import ValidationError

from assay.harness.files import ModelT, link_or_copy, read_model, read_regular, replace_file, sync_folder, write_file
from assay.harness.runs import archives
from assay.harness.runs.archives import Notify, ignore
from assay.harness.runs.saved import SavedVerdict

VERDICT = "verdict.json"
REPORTS = "reports/"


class Evaluations:
    """The evaluations below the folder of a run, or of one repetition of them, counted from 1."""

    def __init__(self, root: Path, rerun: int = 0) -> None:
        self._root = root
        self._rerun = rerun

    def grow(self, predictions: int) -> None:
        """Use archives from now on if a run has many predictions."""
        if predictions > archives.FROM:
            self._archives.make()

    def folder(self, instance_id: str) -> Path:
        """Return the folder of an evaluation; of an archived one, it holds what PatchDiff found, and repetitions."""
        folder = self._root / "instances" / instance_id
        return folder / "reruns" / str(self._rerun) if self._rerun else folder

    def write(self, saved: SavedVerdict, files: Mapping[str, bytes], notify: Notify = ignore) -> None:
        """Save an evaluation with its files, by their path in its folder; it is on the disk when this returns.

        ``notify`` is called once for all that reached the disk together. Raises OSError, and what was there before is
        still there then.
        """
        if self._is_archived:
            self._archives.add(saved, files, notify)
            return
        with self._replace_folder(saved.verdict.instance_id) as folder:
            _fill(folder, saved, files)
        notify([saved])

    def adopt(self, instance_id: str, other: "Evaluations", *, syncs: bool) -> None:
        """Take what another run holds of an instance, in place of what is here.

        Without ``syncs`` it may not be on the disk when this returns, and the two share files where the disk can: no
        file of a saved evaluation is ever changed in place.
        """
        archived, folder = other._find_archived(instance_id), other.folder(instance_id)
        files = other._archives.files(instance_id) if archived else {}
        if archived and self._is_archived:
            self._archives.add(archived, files)
            if not folder.is_dir():
                return
        with self._replace_folder(instance_id, syncs=syncs) as new:
            if folder.is_dir():
                copy = shutil.copy2 if syncs else link_or_copy
                shutil.copytree(folder, new, dirs_exist_ok=True, copy_function=copy)
            if archived and not self._is_archived:
                _fill(new, archived, files)

    def verdict(self, instance_id: str) -> SavedVerdict | None:
        """Return the saved verdict of an instance; None when there is none that can be read whole."""
        # A path of text takes a tenth of the time of a Path's, and runs have many.
        inside = f"reruns/{self._rerun}/{VERDICT}" if self._rerun else VERDICT
        path = f"{self._root}/instances/{instance_id}/{inside}"
        return self._find_archived(instance_id) or read_model(path, SavedVerdict)

    def replace_verdict(self, saved: SavedVerdict) -> None:
        name = saved.verdict.instance_id
        if self._find_archived(name):
            self._archives.replace_verdict(saved)
        else:
            replace_file(self.folder(name) / VERDICT, _encode(saved))

    def drop_verdict(self, instance_id: str) -> None:
        if self._is_archived:
            self._archives.drop(instance_id)
        with suppress(FileNotFoundError, NotADirectoryError):
            (self.folder(instance_id) / VERDICT).unlink()

    def keep(self, ids: Iterable[str]) -> None:
        """Remove the folders of all other instances, and the archives."""
        for folder in {*(self._root / "instances").glob("*")} - {self.folder(each) for each in ids}:
            shutil.rmtree(folder)
        self._archives.remove()

    def list_archived(self) -> Mapping[str, object]:
        """Return the ids of the evaluations that are in archives, with a value that changes when a verdict does."""
        return self._archives.places() if self._is_archived else {}

    def list_archived_files(self, instance_id: str) -> list[str]:
        """Return the paths of an evaluation's files that are in an archive, as its folder would have them."""
        return [*self._archives.files(instance_id), VERDICT] if self._find_archived(instance_id) else []

    def reports(self, instance_id: str) -> dict[str, bytes]:
        if self._find_archived(instance_id):
            files = self._archives.files(instance_id)
            return {name.removeprefix(REPORTS): files[name] for name in files if name.startswith(REPORTS)}
        return {path.name: read_regular(path) for path in sorted((self.folder(instance_id) / REPORTS).glob("*"))}

    def file(self, instance_id: str, name: str) -> bytes | None:
        """Return a file of an evaluation by its path in the folder; None if there is none."""
        if saved := self._find_archived(instance_id):
            return _encode(saved) if name == VERDICT else self._archives.files(instance_id).get(name)
        path = self.folder(instance_id) / name
        try:
            return read_regular(path)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def read(self, instance_id: str, name: str, kind: type[ModelT]) -> ModelT | None:
        """Read a file of an evaluation; None if it is missing, torn or of another shape."""
        content = self.file(instance_id, name)
        try:
            return None if content is None else kind.model_validate_json(content)
        except ValidationError:
            return None

    @property
    def _archives(self) -> archives.Archives:
        """Looked up each time: a store is copied to other machines, locks are not."""
        return archives.get_archives(self._root)

    @property
    def _is_archived(self) -> bool:
        return not self._rerun and self._archives.exists

    def _find_archived(self, instance_id: str) -> SavedVerdict | None:
        return self._archives.find(instance_id) if self._is_archived else None

    @contextmanager
    def _replace_folder(self, instance_id: str, *, syncs: bool = True) -> Iterator[Path]:
        folder = self.folder(instance_id)
        new, old = (folder.with_name(f".{instance_id}.{uuid.uuid4().hex}.{end}") for end in ("new", "old"))
        new.mkdir(parents=True)
        try:
            yield new
            for path in (new / "reports", new) if syncs else ():
                sync_folder(path)
            is_replaced = folder.is_dir()
            if is_replaced:
                folder.rename(old)  # a crash between here and the next line costs this one result
            new.rename(folder)
            if syncs:
                sync_folder(folder.parent)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise
        if is_replaced:
            shutil.rmtree(old, ignore_errors=True)


def _fill(folder: Path, saved: SavedVerdict, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        write_file(folder / name, content)
    write_file(folder / VERDICT, _encode(saved))


def _encode(saved: SavedVerdict) -> bytes:
    return saved.model_dump_json(indent=1).encode()
