"""A bundle, verified: its signature, every byte of it, and what its contents say against each other."""

import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import IO

from assay.harness.bundles.consistency import Mismatch, Shown, check_runs
from assay.harness.bundles.seal import BUNDLE, FORMAT, GRADED, LOCK, MANIFEST, SIGNATURE, Bundle, describe, get_size
from assay.harness.bundles.signing import Signers, find_signer
from assay.harness.bundles.tar import DamagedBundle, Member, member_name, read_members
from assay.harness.domain import Model
from assay.harness.errors import UserError
from assay.harness.files import read_model
from assay.harness.runs.store import RunStore

MANIFEST_BYTES = 256 * 1024 * 1024  # two million files
SIGNATURE_BYTES = 4096
GRADED_BYTES = 256 * 1024 * 1024  # A file that is parsed
COMPRESSED = {b"\x1f\x8b": "gzip -d", b"\x28\xb5\x2f\xfd": "zstd -d", b"\xfd7zXZ": "xz -d", b"BZh": "bzip2 -d"}
"""How a compressed file begins, and the program that it takes."""


class SignatureState(StrEnum):
    TRUSTED = "trusted"
    """A key that the reader vouches for."""
    UNKNOWN = "unknown"
    """The reader vouches for no key: the signature fits, and anybody may have made it."""
    STRANGER = "stranger"
    """A key that the reader does not vouch for."""
    INVALID = "invalid"
    """No key's: the list of hashes or the signature was changed."""


class Signed(Model):
    """Who signed a bundle."""

    state: SignatureState
    key: str = ""
    """The public key, as in a ``.pub`` file."""
    fingerprint: str = ""
    name: str = ""


class Verification(Model):
    bundle: Bundle | None = None
    signature: Signed | None = None
    """None if the archive could not be read so far."""
    files: int = 0
    graded: int | None = None
    """Instances that were graded again; None if a file is not as it was signed, or cannot be read."""
    problems: tuple[Mismatch, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong; an unknown signer is said, and is nothing wrong."""
        return not self.problems


def verify(path: Path, signers: Signers | None, scratch: Path, shown: Shown) -> Verification:
    """Verify a bundle; None for ``signers`` accepts any key.

    ``scratch`` is an empty folder, where ``open_runs`` finds the runs afterwards. Raises UserError for an unreadable
    file.
    """
    reading = _Reading(scratch)
    try:
        with path.open("rb") as file:
            reading.read(file, signers, shown)
    except DamagedBundle as error:
        reading.problems.append(Mismatch(file=error.file, what=error.problem))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from error
    bundle, is_read = read_model(scratch / BUNDLE, Bundle), False
    if reading.has_all_files and (bundle is None or bundle.format != FORMAT or not _are_folders(bundle.runs)):
        what = "is of another version of Assay, or describes no run"
        reading.problems.append(Mismatch(file=BUNDLE, what=what))
    elif reading.has_all_files and bundle:
        try:
            reading.problems += _check_contents(bundle, scratch, shown)
            is_read = True
        except (ValueError, OSError) as error:  # UserError and ValidationError are among them
            what = f"cannot be read: {' '.join(str(error).split())[:200]}"
            reading.problems.append(Mismatch(file=f"runs/{bundle.runs[0]}", what=what))
    return Verification(
        bundle=bundle,
        signature=reading.signature,
        files=reading.files,
        graded=bundle.instances if bundle and is_read else None,
        problems=tuple(reading.problems),
    )


def open_runs(scratch: Path, bundle: Bundle) -> list[RunStore]:
    """Return the run of a verified bundle, then its controls."""
    return [RunStore(scratch / "runs" / name, alone=True) for name in bundle.runs]


@dataclass
class _Reading:
    """One pass over a bundle: compares every file with the list of hashes, and keeps what grading needs."""

    scratch: Path
    problems: list[Mismatch] = field(default_factory=list)
    signature: Signed | None = None
    files: int = 0
    has_all_files: bool = False
    """Whether every file is there, once, as it was signed, and nothing else."""

    def read(self, file: IO[bytes], signers: Signers | None, shown: Shown) -> None:
        """Read to the end; raises DamagedBundle where reading on makes no sense."""
        _refuse_compressed(file)
        size, members = get_size(file), read_members(file)
        manifest = _take(members, MANIFEST).read(MANIFEST_BYTES)
        armoured = _take(members, SIGNATURE).read(SIGNATURE_BYTES)
        self._check_signature(manifest, armoured, signers)
        hashes = _read_manifest(manifest)
        strangers: dict[str, str] = {}
        seen: list[str] = []
        for member in members:
            shown("reading", file.tell(), size)
            digest = self._digest(member)
            seen.append(member.name)
            if member.name not in hashes:
                strangers[member.name] = digest
            elif digest != hashes[member.name]:
                self._say(member.name, "its content is not what was signed")
        self.files = len(seen)
        self._compare_names(seen, hashes, strangers)
        self.has_all_files = all(each.file == MANIFEST for each in self.problems)

    def _say(self, name: str, what: str) -> None:
        self.problems.append(Mismatch(file=name, what=what))

    def _check_signature(self, manifest: bytes, armoured: bytes, signers: Signers | None) -> None:
        key = find_signer(armoured.decode("ascii", "replace"), manifest)
        if key is None:
            self.signature = Signed(state=SignatureState.INVALID)
            self._say(MANIFEST, f"its signature does not fit: {MANIFEST} or {SIGNATURE} was changed, or is another's")
            return
        name = signers.names.get(key) if signers else None
        state = SignatureState.UNKNOWN if signers is None else SignatureState.TRUSTED
        if signers and name is None:
            state = SignatureState.STRANGER
            self._say(MANIFEST, f"is signed by {key.fingerprint}, which is not in {signers.source}")
        self.signature = Signed(state=state, key=str(key), fingerprint=key.fingerprint, name=name or "")

    def _digest(self, member: Member) -> str:
        """Return a member's hash; keep it for grading if it is needed there and was not kept before."""
        kept = self.scratch / member.name
        if not GRADED.fullmatch(member.name) or kept.exists():
            digest = hashlib.sha256()
            for part in member.chunks():
                digest.update(part)
            return digest.hexdigest()
        content = member.read(GRADED_BYTES)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(content)
        return hashlib.sha256(content).hexdigest()

    def _compare_names(self, seen: list[str], hashes: Mapping[str, str], strangers: Mapping[str, str]) -> None:
        missing = hashes.keys() - set(seen)
        was = {hashes[name]: name for name in sorted(missing)}
        for name, digest in strangers.items():
            old = was.get(digest)
            self._say(name, f"is {old} under another name" if old else "was added: it is not in the signed list")
        for name in sorted(missing):
            self._say(name, "is missing")
        repeated = sorted(name for name, count in Counter(seen).items() if count > 1)
        for name in repeated:
            self._say(name, "is in the archive more than once")
        if not (missing or strangers or repeated) and seen != list(hashes):
            moved = next(name for name, expected in zip(seen, hashes, strict=True) if name != expected)
            self._say(moved, "is not in its place: the archive was packed in another order")


def _refuse_compressed(file: IO[bytes]) -> None:
    begin = file.read(max(map(len, COMPRESSED)))
    for magic, program in COMPRESSED.items():
        if begin.startswith(magic):
            raise DamagedBundle(f"is compressed; decompress it first, with {program}")
    file.seek(0)


def _take(members: Iterator[Member], name: str) -> Member:
    member = next(members, None)
    if member is None or member.name != name:
        found = f"{member.name} is" if member else "nothing is"
        raise DamagedBundle(f"is no bundle: {found} where {name} should be")
    return member


def _read_manifest(text: bytes) -> dict[str, str]:
    """Return the hash of each file, by name; raises DamagedBundle for lines that ``seal`` would not write."""
    hashes: dict[str, str] = {}
    for number, line in enumerate(io.BytesIO(text), 1):
        found = re.fullmatch(rb"([0-9a-f]{64})  ([!-~][ -~]*)\n", line)
        if found is None or (name := found[2].decode("ascii")) in hashes:
            raise DamagedBundle(f"line {number} is no line of a list of hashes", file=MANIFEST)
        hashes[name] = found[1].decode("ascii")
    if not {BUNDLE, LOCK} <= hashes.keys():
        raise DamagedBundle(f"the list is not complete: it needs {BUNDLE} and {LOCK}", file=MANIFEST)
    return hashes


def _check_contents(bundle: Bundle, scratch: Path, shown: Shown) -> Iterator[Mismatch]:
    stores = open_runs(scratch, bundle)
    if describe(stores) != bundle:
        yield Mismatch(file=BUNDLE, what="does not describe the run that is here")
    yield from check_runs(stores, shown)


def _are_folders(names: tuple[str, ...]) -> bool:
    return bool(names) and all(member_name(name) == name == Path(name).name != ".." for name in names)
