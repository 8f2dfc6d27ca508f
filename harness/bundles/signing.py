"""Signatures by ed25519 keys in OpenSSH's formats, so that ``ssh-keygen -Y verify`` can check them too.

Keys are those of ``ssh-keygen -t ed25519``; a signature is armoured as in OpenSSH's PROTOCOL.sshsig. The files that say
whom to trust are public keys, or lists of allowed signers as git and ``ssh-keygen -Y verify -f`` read them.
"""

import base64
import binascii
import hashlib
import os
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from assay.harness.errors import DataError, UserError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NAMESPACE = "assay-bundle"
"""Written into every signature: one that was made for another purpose counts for nothing here."""
KIND, MAGIC, HASH = b"ssh-ed25519", b"SSHSIG", b"sha512"
KEY_KIND = re.compile(r"ssh-(ed25519|rsa|dss)|ecdsa-sha2-\S+|sk-\S+@openssh\.com")
BEGIN, FINISH = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
LINE = 70
PRIVATE = 0o600
MAKE_ONE = "make one with --new-key FILE or ssh-keygen -t ed25519"


@dataclass(frozen=True, slots=True)
class PublicKey:
    raw: bytes

    @property
    def fingerprint(self) -> str:
        """The hash by which ssh names the key: ``SHA256:...``."""
        digest = base64.b64encode(hashlib.sha256(self._blob).digest()).decode().rstrip("=")
        return f"SHA256:{digest}"

    def __str__(self) -> str:
        return f"{KIND.decode()} {base64.b64encode(self._blob).decode()}"

    @property
    def _blob(self) -> bytes:
        return _pack(KIND) + _pack(self.raw)


@dataclass(frozen=True, slots=True)
class PrivateKey:
    """An ed25519 private key; it can sign, and nothing here prints or copies it."""

    _key: "Ed25519PrivateKey"

    @property
    def public(self) -> PublicKey:
        return PublicKey(self._key.public_key().public_bytes_raw())

    def sign(self, message: bytes) -> str:
        signature = self._key.sign(_make_signed_data(message))
        parts = (self.public._blob, NAMESPACE.encode(), b"", HASH, _pack(KIND) + _pack(signature))
        return _armour(MAGIC + struct.pack(">I", 1) + b"".join(map(_pack, parts)))


@dataclass(frozen=True, slots=True)
class Signers:
    """Keys that somebody vouches for, and under which names."""

    names: dict[PublicKey, str]
    source: str = ""


def read_private_key(path: Path, passphrase: Callable[[], bytes]) -> PrivateKey:
    """Read an ed25519 key of ``ssh-keygen``; ``passphrase`` is asked if it is encrypted. Raises UserError."""
    content = _read_secret(path)
    try:
        return _load_key(path, content, None)
    except TypeError:  # it is encrypted
        return _load_key(path, content, passphrase())


def new_private_key(path: Path, comment: str = "assay") -> PrivateKey:
    """Make a key that its owner only can read, and ``<path>.pub``; raises UserError if one of them is there."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    public = path.with_name(f"{path.name}.pub")
    if path.exists() or public.exists():
        raise UserError(f"{path} or {public.name} is there already; sign with --key {path}, or choose another name")
    key = Ed25519PrivateKey.generate()
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE), "wb") as file:
        file.write(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    public.write_text(f"{PrivateKey(key).public} {comment}\n", encoding="utf-8")
    return PrivateKey(key)


def read_signers(path: Path) -> Signers:
    """Read a public key, a list of public keys, or a list of allowed signers; raises DataError.

    Other kinds of keys and signers of other namespaces are left out. A name is the signer's, or a key's comment.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", file=str(path)) from error
    names: dict[PublicKey, str] = {}
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            names |= dict(_read_signer(line, str(path), number))
    if not names:
        raise DataError("has no ed25519 key that may sign bundles", file=str(path))
    return Signers(names, str(path))


def find_signer(armoured: str, message: bytes) -> PublicKey | None:
    """Return the key that made a signature of this message; None if none did, or for another purpose."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key, signature = _split_signature(armoured)
        Ed25519PublicKey.from_public_bytes(key.raw).verify(signature, _make_signed_data(message))
    except (ValueError, InvalidSignature):
        return None
    return key


def _split_signature(armoured: str) -> tuple[PublicKey, bytes]:
    """Return key and signature; raises ValueError for anything that ``PrivateKey.sign`` would not write."""
    lines = armoured.splitlines()
    blob = base64.b64decode("".join(lines[1:-1]), validate=True)
    version, rest = blob[len(MAGIC) : len(MAGIC) + 4], blob[len(MAGIC) + 4 :]
    fields = list(_unpack(rest))
    if _armour(blob) != armoured or not blob.startswith(MAGIC) or version != struct.pack(">I", 1):
        raise ValueError("another form")
    public, namespace, reserved, hashed, signed = fields
    kind, raw = _unpack(public)
    signed_kind, signature = _unpack(signed)
    if (namespace, reserved, hashed, kind, signed_kind) != (NAMESPACE.encode(), b"", HASH, KIND, KIND):
        raise ValueError("another purpose")
    return PublicKey(raw), signature


def _make_signed_data(message: bytes) -> bytes:
    parts = (NAMESPACE.encode(), b"", HASH, hashlib.sha512(message).digest())
    return MAGIC + b"".join(map(_pack, parts))


def _armour(blob: bytes) -> str:
    text = base64.b64encode(blob).decode()
    lines = (text[start : start + LINE] for start in range(0, len(text), LINE))
    return "\n".join((BEGIN, *lines, FINISH, ""))


def _read_signer(line: str, file: str, number: int) -> Iterator[tuple[PublicKey, str]]:
    """Yield the key of ``[names [options]] kind key [comment]`` if it is an ed25519 key that may sign bundles."""
    words = line.split() if '"' not in line else re.findall(r'(?:"[^"]*"|[^\s"])+', line)
    place = next((index for index, word in enumerate(words[:3]) if KEY_KIND.fullmatch(word)), None)
    if place is None or len(words) < place + 2:
        raise DataError("is neither a public key nor a line of allowed signers", file=file, line=number)
    options = words[1] if place == 2 else ""
    if words[place] == KIND.decode() and _may_sign(options, file, number):
        name = words[0].strip('"') if place else " ".join(words[2:])
        yield _read_public_key(words[place + 1], file, number), name


def _may_sign(options: str, file: str, number: int) -> bool:
    """Return whether options let a key sign bundles; raises DataError for options that limit it in other ways."""
    if not options:
        return True
    found = re.fullmatch(r'namespaces="([^"]*)"', options, re.IGNORECASE)
    if found is None:
        raise DataError(f"{options}: only the option namespaces is supported", file=file, line=number)
    return any(fnmatchcase(NAMESPACE, pattern) for pattern in found[1].split(","))


def _read_public_key(text: str, file: str, number: int) -> PublicKey:
    try:
        kind, raw = _unpack(base64.b64decode(text, validate=True))
    except (ValueError, binascii.Error) as error:
        raise DataError("its key cannot be read", file=file, line=number) from error
    if kind != KIND or len(raw) != 32:
        raise DataError("its key is no ed25519 key", file=file, line=number)
    return PublicKey(raw)


def _load_key(path: Path, content: bytes, passphrase: bytes | None) -> PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_ssh_private_key

    try:
        key = load_ssh_private_key(content, passphrase)
    except ValueError as error:
        wrong = "is no private key of OpenSSH" if passphrase is None else "has another passphrase"
        raise UserError(f"{path} {wrong}; {MAKE_ONE}") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise UserError(f"{path} is no ed25519 key; {MAKE_ONE}")
    return PrivateKey(key)


def _read_secret(path: Path) -> bytes:
    if path.suffix == ".pub":
        raise UserError(f"{path} is a public key; sign with the private one: --key {path.with_suffix('')}")
    try:
        if path.stat().st_mode & 0o077:
            raise UserError(f"{path} can be read by others; a key that signs is its owner's alone: chmod 600 {path}")
        return path.read_bytes()
    except OSError as error:
        problem = f"{path}: {error.strerror}; name a private key of ssh-keygen -t ed25519, or make one with --new-key"
        raise UserError(problem) from error


def _pack(content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + content


def _unpack(blob: bytes) -> Iterator[bytes]:
    """Yield the length-prefixed strings of a blob; raises ValueError where one is cut off."""
    while blob:
        if len(blob) < 4 or len(blob) - 4 < int.from_bytes(blob[:4]):
            raise ValueError("cut off")
        end = 4 + int.from_bytes(blob[:4])
        yield blob[4:end]
        blob = blob[end:]
