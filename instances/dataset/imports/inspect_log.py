"""A log of Inspect (``.eval``, a zip archive, or ``.json``): the patch that each sample holds.

inspect_evals' swe_bench keeps it in the metadata of a score, as ``model_patch``. Other tasks may keep it in the
sample's own metadata or store under that name, or answer with it.
"""

import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from assay.harness.errors import DataError, PluginError
from assay.harness.runs.manifest import ORACLE
from assay.instances.dataset.imports.base import (
    AGAIN,
    MEMBER_BYTES,
    ROWS,
    Attempt,
    get_text,
    part,
    read_bytes,
    read_head,
    read_limited,
    read_object,
)

NAME = "Inspect log"
JSON_BYTES = 512 * 1024**2
ARCHIVE_BYTES = 16 * 1024**3  # limit for all members of an archive together, unpacked
ZSTANDARD = 93  # Inspect's compression since 2026; zipfile reads it from Python 3.14 on
KEY = "model_patch"
UNREADABLE = (
    "Agent patch could not be decoded due to having a binary input.",
    "Agent patch was too large to read out of the sandbox",
)
"""inspect_evals' swe_bench writes these in place of a patch."""

_JSON_LOG = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"')
_FENCED = re.compile(r"```(?:diff|patch)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def recognises(source: Path) -> bool:
    """Return whether a file begins like a zip archive, or like the JSON that Inspect writes."""
    head = read_head(source)
    return head.startswith(b"PK\x03\x04") or _JSON_LOG.match(head) is not None


def attempts(source: Path) -> Iterator[Attempt]:
    """Yield every sample; its epoch numbers the attempt, if there are several. Raises DataError, or PluginError."""
    samples = _read_archive(source) if read_head(source).startswith(b"PK") else _read_json_log(source)
    model = oracle = ""
    for record, place in samples:
        if "eval" in record:
            model = str(part(record, "eval", "model") or "")
            oracle = str(part(record, "eval", "metadata", "settings", ORACLE) or "")
        else:
            yield replace(_attempt(record, place, model), oracle=oracle)


def _read_json_log(source: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the header and then each sample, with its place."""
    log = read_object(read_bytes(source, JSON_BYTES, "write it as .eval: inspect log convert --to eval"), str(source))
    samples = log.pop("samples", None)
    if not isinstance(samples, list) or not isinstance(log.get("eval"), Mapping):
        raise DataError("is missing; write the log with its samples", file=str(source), field="samples")
    yield log, str(source)
    for number, sample in enumerate(samples, start=1):
        place = f"{source} (sample {number})"
        if not isinstance(sample, dict):
            raise DataError(f"is not a JSON object; {AGAIN}", file=place)
        yield sample, place


def _read_archive(source: Path) -> Iterator[tuple[dict[str, Any], str]]:
    try:
        with source.open("rb") as file, zipfile.ZipFile(file) as archive:
            members = {member.filename: member for member in archive.infolist()}
            header = members.get("header.json") or members.get("_journal/start.json")
            if header is None:
                raise DataError("is a zip archive without header.json; give a log of Inspect (.eval)", file=str(source))
            samples = [member for name, member in members.items() if re.fullmatch(r"samples/[^/]+\.json", name)]
            unpacked = 0
            for member in (header, *samples):
                place = f"{source} ({member.filename})"
                content = _unpack_member(archive, member, file, place)
                unpacked += len(content)
                if unpacked > ARCHIVE_BYTES:
                    raise DataError(f"unpacks to more than {ARCHIVE_BYTES // 1024**3} GiB; {ROWS}", file=str(source))
                yield read_object(content, place), place
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError) as error:
        raise DataError(f"is not a whole zip archive: {error}; {AGAIN}", file=str(source)) from None


def _unpack_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, file: IO[bytes], place: str) -> bytes:
    """Return a member's content; raises DataError if it has more than MEMBER_BYTES, whatever its header says."""
    if member.file_size > MEMBER_BYTES:
        raise DataError(f"unpacks to more than {MEMBER_BYTES // 1024**2} MiB; {ROWS}", file=place)
    if member.flag_bits & 0x1:
        raise DataError("is encrypted; give a log without a password", file=place)
    try:
        with archive.open(member) as stream:
            return read_limited(stream, place, MEMBER_BYTES)
    except NotImplementedError:
        return _zstandard(member, file, place)


def _zstandard(member: zipfile.ZipInfo, file: IO[bytes], place: str) -> bytes:
    """Decompress what this Python's zipfile cannot."""
    if member.compress_type != ZSTANDARD:
        raise DataError(f"is compressed by method {member.compress_type}; write the log again as .json", file=place)
    try:
        import zstandard
    except ImportError:
        remedy = "pip install 'assay-bench[inspect]', or write it as JSON: inspect log convert --to json"
        raise PluginError(f"{place}: is compressed with zstandard; {remedy}") from None
    file.seek(member.header_offset + 26)
    name, extra = (int.from_bytes(file.read(2), "little") for _ in range(2))
    file.seek(name + extra, io.SEEK_CUR)
    packed = io.BytesIO(file.read(member.compress_size))
    try:
        with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as stream:
            content = read_limited(stream, place, MEMBER_BYTES)
    except zstandard.ZstdError as error:
        raise DataError(f"cannot be decompressed: {error}; {AGAIN}", file=place) from None
    if zlib.crc32(content) != member.CRC:
        raise DataError(f"is damaged, its checksum differs; {AGAIN}", file=place)
    return content


def _attempt(sample: dict[str, Any], place: str, model: str) -> Attempt:
    name = str(sample["id"]) if isinstance(sample.get("id"), int) else get_text(sample, "id", place)
    epoch = sample.get("epoch")
    number = epoch if isinstance(epoch, int) else None
    patch, missing = _find_patch(sample, place), ""
    if patch in UNREADABLE:
        patch, missing = None, str(patch).rstrip(".")
    elif patch is None:
        failed = part(sample, "error", "message")
        missing = f"no patch ({str(failed).splitlines()[0][:80]})" if failed else f"no score has {KEY} in its metadata"
    own = part(sample, "metadata", "model_name_or_path")
    return Attempt(name, place, patch, own if isinstance(own, str) else model, number, missing)


def _find_patch(sample: dict[str, Any], place: str) -> str | None:
    """Return the patch of a sample, or None; raises DataError if scores hold different patches."""
    scores = part(sample, "scores")
    kept = [part(score, "metadata", KEY) for score in scores.values()] if isinstance(scores, Mapping) else []
    kept = [patch for patch in kept if isinstance(patch, str)]
    if len(set(kept)) > 1:
        raise DataError("scores hold different patches; keep one of them", file=place, field=f"scores.*.metadata.{KEY}")
    own = (part(sample, "metadata", KEY), part(sample, "store", KEY))
    found = next((patch for patch in (*kept, *own) if isinstance(patch, str)), None)
    return _resolve_references(found, sample) if found is not None else _find_answer(sample)


def _find_answer(sample: dict[str, Any]) -> str | None:
    """Return the model's answer if it is a patch, or the only one that it quotes."""
    answer = _resolve_references(part(sample, "output", "completion") or "", sample)
    if answer.lstrip().startswith(("diff --git ", "--- a/")):
        return answer
    quoted = _FENCED.findall(answer)
    return str(quoted[0]) if len(quoted) == 1 else None


def _resolve_references(text: object, sample: dict[str, Any]) -> str:
    """Return a text that Inspect may have moved to the sample's attachments."""
    moved = part(sample, "attachments", str(text).removeprefix("attachment://"))
    return moved if isinstance(moved, str) and str(text).startswith("attachment://") else str(text)
