"""A finished run, sealed: packed with a list of the hashes of all its files, which is signed.

    MANIFEST        a line of each other member: SHA-256, two spaces, name; ``sha256sum -c MANIFEST`` checks it
    MANIFEST.sig    the signature of MANIFEST
    bundle.json     the Bundle
    error-card.json this version's rates of hostile patches let through and honest ones refused, with bounds
    images.lock     what the environments are made of
    runs/<run>/     the run's folder, and those of its controls (<run>.control-gold, <run>.control-null)

The same run, key, version of Assay and secrets of the environment give the same bytes. Files that decide a verdict or a
figure are packed as they are; secrets are taken out of the others before they are hashed.
"""

import hashlib
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from assay.harness.bundles.consistency import Shown, check_runs
from assay.harness.bundles.signing import PrivateKey
from assay.harness.bundles.tar import CHUNK, END, member_name, write_member
from assay.harness.domain import DatasetRef, Model
from assay.harness.errors import UserError
from assay.harness.files import atomic_file, open_regular
from assay.harness.redaction import Redaction
from assay.harness.runs.manifest import RunKind
from assay.harness.runs.store import RunStore

FORMAT = 1
MANIFEST, SIGNATURE, BUNDLE, LOCK = "MANIFEST", "MANIFEST.sig", "bundle.json", "images.lock"
CARD = Path(__file__).with_name("error-card.json")
"""Written by ``scripts/error_card.py``."""
RUN_FILES = ("journal.jsonl", "predictions.jsonl", "report.json", "run.json", "stability.json", "verdicts.jsonl")
GRADED = re.compile(
    r"bundle\.json|images\.lock|runs/[^/]+/((predictions|verdicts|journal)\.jsonl|(report|run)\.json|"
    r"instances/[^/]+/(patch\.diff|(patchdiff/comparison|cause/cause)\.json|(reruns/\d+/)?(instance|evidence|verdict)\.json))"
)
"""Files that are needed to grade and to count again; the others are only hashed."""
NEEDED = ("predictions.jsonl", "report.json", "run.json", "verdicts.jsonl")

Open = Callable[[], IO[bytes]]


class Bundle(Model):
    """A sealed run: what it holds, in brief."""

    format: int = FORMAT
    run: str
    kind: RunKind
    assay_version: str
    dataset: DatasetRef
    model: str
    oracle: str = ""
    """Parts of the answer that the solver was given."""
    instances: int
    """How many have a prediction."""
    runs: tuple[str, ...]
    """Folders below ``runs/``: the run, then its controls."""


@dataclass(frozen=True, slots=True)
class _Source:
    """A file to be packed, with its name in the archive."""

    name: str
    read: Callable[[], Iterator[bytes]]
    sha256: str
    size: int
    place: Path


@dataclass(frozen=True, slots=True)
class Sealed:
    bundle: Bundle
    files: int
    size: int
    sha256: str
    redaction: Redaction


def seal(stores: Sequence[RunStore], lock: bytes, key: PrivateKey, output: Path, shown: Shown) -> Sealed:
    """Pack a finished run, then its controls, and sign the list of hashes; the file appears when it is complete.

    Raises UserError: the run is not finished, something it says does not follow from its evidence, or a file is none
    that can be packed.
    """
    _check_finished(stores, shown)
    bundle = describe(stores)
    texts = {BUNDLE: bundle.model_dump_json(indent=1).encode(), CARD.name: CARD.read_bytes(), LOCK: lock}
    redaction = Redaction()
    sources = sorted(_hash_sources(stores, redaction, shown), key=lambda each: each.name)
    hashes = {**{name: hashlib.sha256(text).hexdigest() for name, text in texts.items()}}
    hashes |= {each.name: each.sha256 for each in sources}
    manifest = "".join(f"{found}  {name}\n" for name, found in hashes.items()).encode()
    texts = {MANIFEST: manifest, SIGNATURE: key.sign(manifest).encode(), **texts}
    with atomic_file(output) as file:
        _write(file, texts, sources, shown)
        size = get_size(file)
    return Sealed(bundle, len(hashes), size, hash_file(output), redaction)


def describe(stores: Sequence[RunStore]) -> Bundle:
    run = stores[0].load_run()
    return Bundle(
        run=run.id,
        kind=run.kind,
        assay_version=run.assay_version,
        dataset=run.dataset,
        model=run.model,
        oracle=run.oracle,
        instances=len(stores[0].load_predictions()),
        runs=tuple(member_name(store.root.name) for store in stores),
    )


def hash_file(path: Path) -> str:
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def get_size(file: IO[bytes]) -> int:
    """Return the size of an open file; its position stays."""
    place = file.tell()
    size = file.seek(0, 2)
    file.seek(place)
    return size


def _check_finished(stores: Sequence[RunStore], shown: Shown) -> None:
    for store in stores:
        missing = [name for name in NEEDED if not (store.root / name).is_file()]
        if missing:
            raise UserError(f"{store.root} has no {missing[0]}: run it to its end, then bundle it")
    for problem in check_runs(stores, shown):
        raise UserError(f"{problem}; run assay report regrade {stores[0].root.name}, or evaluate again")


def _hash_sources(stores: Sequence[RunStore], redaction: Redaction, shown: Shown) -> Iterator[_Source]:
    for store in stores:
        paths = [path for name in RUN_FILES if (path := store.root / name).exists()]
        yield from _make_sources(store.root, {path: partial(open_regular, path) for path in paths}, redaction)
        ids = sorted({each.instance_id for each in store.load_predictions()})
        for number, instance_id in enumerate(ids):
            shown(f"hashing {store.root.name}", number, len(ids))
            folder, instance = store.root / "instances" / instance_id, store.load_instance(instance_id)
            redaction.leave_folder(instance.repo.rpartition("/")[2] if instance else "")
            files: dict[Path, Open] = {path: partial(open_regular, path) for path in _list_files(folder)}
            for name in store.evaluations.list_archived_files(instance_id):  # as if they were in the folder
                files[folder / name] = partial(_open_archived, store, instance_id, name)
            yield from _make_sources(store.root, files, redaction)


def _list_files(folder: Path) -> list[Path]:
    """Return all in a folder that is no folder itself; names with a dot in front are still being written."""
    found = []
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            found += [] if path.name.startswith(".") else _list_files(path)
        else:
            found.append(path)
    return found


def _make_sources(root: Path, files: Mapping[Path, Open], redaction: Redaction) -> Iterator[_Source]:
    """Yield the files that decide something first: a secret that stands there stays in the others."""
    named = {path: f"runs/{member_name(str(path.relative_to(root.parent)))}" for path in files}
    for path in sorted(files, key=lambda path: not _decides(named[path])):
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise UserError(f"{path} is a link or no regular file, and no part of a run; remove it")
        source, decides = files[path], _decides(named[path])
        if decides:
            with source() as file:
                redaction.leave_file(file.read())
        digest, size, before = hashlib.sha256(), 0, redaction.taken.total()
        for part in _read(source, None if decides else redaction):
            digest.update(part)
            size += len(part)
        again = Redaction(redaction.left) if redaction.taken.total() > before else None
        yield _Source(named[path], partial(_read, source, again), digest.hexdigest(), size, path)


def _decides(name: str) -> bool:
    return GRADED.fullmatch(name) is not None or name.rpartition("/")[2] in RUN_FILES


def _read(source: Open, redaction: Redaction | None) -> Iterator[bytes]:
    with source() as file:
        if redaction is not None:
            yield from redaction.chunks(file)
            return
        while part := file.read(CHUNK):
            yield part


def _open_archived(store: RunStore, instance_id: str, name: str) -> IO[bytes]:
    return io.BytesIO(store.evaluations.file(instance_id, name) or b"")


def _write(file: IO[bytes], texts: Mapping[str, bytes], sources: Sequence[_Source], shown: Shown) -> None:
    for name, text in texts.items():
        write_member(file, name, len(text), iter((text,)))
    for number, source in enumerate(sources):
        shown("packing", number, len(sources))
        write_member(file, source.name, source.size, _read_unchanged(source))
    file.write(END)


def _read_unchanged(source: _Source) -> Iterator[bytes]:
    """Yield a file's content; raises UserError at its end if it differs from what was hashed."""
    digest = hashlib.sha256()
    for part in source.read():
        digest.update(part)
        yield part
    if digest.hexdigest() != source.sha256:
        raise UserError(f"{source.place} changed while it was packed; pack again when nothing writes there")
