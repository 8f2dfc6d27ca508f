"""Commitments: what a run will be, by hash, in a file that only grows; each line holds the hash of the line before.

Who knows the hash of the last line at a time knows that no line up to it was changed, removed or added later.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from pydantic import AwareDatetime, Field, ValidationError

from assay.harness.bundles.consistency import Mismatch
from assay.harness.bundles.dataset_rows import COMPARED
from assay.harness.domain import DatasetRef, Instance, Model, Prediction
from assay.harness.errors import DataError, field_error
from assay.harness.files import append_lines, default_cache, hold_lock, read_regular
from assay.harness.runs.manifest import RunKind
from assay.harness.runs.store import RunStore

LABELLED = {*COMPARED, "fail_to_pass", "pass_to_pass", "quarantined"}
SAMPLES = "--samples"
SHOWN = 5  # instances that are named for one reason


class Commitment(Model):
    """What a run will be made of, under the name that it will have."""

    run: str
    kind: RunKind
    time: AwareDatetime
    """Time on the clock of the machine that committed."""
    dataset: DatasetRef
    given: dict[str, str]
    """All that the results depend on besides rows and patches, as run.json names it; of a solver also its samples."""
    rows: dict[str, str]
    """Hash of each instance, by id."""
    patches: dict[str, str] = Field(default_factory=dict)
    """Hash of each patch and its model, by instance; none where a solver is yet to make them."""
    before: str = ""
    """Hash of the line before; empty in the first."""


@dataclass(frozen=True, slots=True)
class CommitmentLine:
    """A line of a log, with its hash."""

    number: int
    digest: str
    commitment: Commitment


ReadLog = tuple[list[CommitmentLine], list[Mismatch]]
"""The lines of a log, and what is wrong with their chain."""


def hash_row(instance: Instance) -> str:
    """Return the hash of the fields that are the same in every run of a row under the same labels."""
    fields = instance.model_dump(include=LABELLED, exclude_defaults=True)
    return _hash(json.dumps(fields, sort_keys=True, default=str).encode())


def hash_patch(prediction: Prediction) -> str:
    return _hash(json.dumps([prediction.model, prediction.patch, prediction.oracle]).encode())


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()


def append_commitment(log: Path, commitment: Commitment) -> CommitmentLine:
    """Write a commitment after those of a log; raises DataError if they are no chain, and OSError."""
    with hold_lock(default_cache() / "commitments.lock"):
        lines, problems = read_log(log) if log.exists() else ([], [])
        if problems:
            raise DataError(f"{problems[0].what}; name another file", file=str(log))
        before = lines[-1].digest if lines else ""
        line = commitment.model_copy(update={"before": before}).model_dump_json(exclude_defaults=True).encode()
        append_lines(log, [line], syncs=True)
    return CommitmentLine(len(lines) + 1, _hash(line), commitment)


def read_log(log: Path, head: str = "") -> ReadLog:
    """Read a log; raises OSError.

    ``head`` is the hash that a line has to have, or its beginning: one that was published, so that none can be cut off.
    """
    lines: list[CommitmentLine] = []
    problems = []
    before = ""
    for number, text in enumerate(read_regular(log).splitlines(), 1):
        try:
            commitment = Commitment.model_validate_json(text)
        except ValidationError as error:
            problems.append(f"line {number} is no commitment: {field_error(error)}")
        else:
            if commitment.before != before:
                problems.append(f"line {number} does not follow the line before: one was changed, removed or moved")
            lines.append(CommitmentLine(number, _hash(text), commitment))
        before = _hash(text)
    if head and not any(each.digest.startswith(head) for each in lines):
        problems.append(f"no line has the hash {head}: it was changed, or cut off")
    return lines, [Mismatch(file=str(log), what=each) for each in problems]


def check_manifest(store: RunStore, commitment: Commitment) -> Iterator[Mismatch]:
    """Yield the settings of a run that were not committed, and whether it began before."""
    file, about = f"{store.root.name}/run.json", store.load_run()
    if about.kind is not commitment.kind:
        yield Mismatch(file=file, what=f"is of kind {about.kind}; committed was {commitment.kind}")
    made = about.given | ({SAMPLES: about.settings.get("samples", "")} if about.kind is RunKind.SOLVE else {})
    for name in sorted(made.keys() | commitment.given.keys()):
        ours, theirs = (given.get(name) or "unset" for given in (made, commitment.given))
        if ours != theirs:
            yield Mismatch(file=file, what=f"was made with {name} {ours}; committed was {theirs}")
    first = [str(each.get("time", "")) for each in store.events()[:1]]  # run.json has the time of the last command
    times = [datetime.fromtimestamp(float(each), UTC) for each in first if each.replace(".", "", 1).isdecimal()]
    began = min([datetime.fromisoformat(about.started), *times])
    if began < commitment.time:
        what = f"began at {began:%FT%T%z}, before it was committed at {commitment.time:%FT%T%z}"
        yield Mismatch(file=file, what=what)


def check_evaluations(store: RunStore, commitment: Commitment, patches: Mapping[str, str]) -> Iterator[Mismatch]:
    """Yield instances of a run without a verdict, with another row, or with other patches than these."""
    file = f"{store.root.name}/instances"
    found = {name: store.load_instance(name) for name in patches.keys() & commitment.rows.keys()}
    unjudged = {name for name, each in found.items() if each is None or store.load_verdict(name) is None}
    yield from _name(file, "was committed and has no verdict", unjudged)
    changed = {name for name, each in found.items() if each is not None and hash_row(each) != commitment.rows[name]}
    yield from _name(file, "is not the row that was committed", changed)
    made = {each.instance_id: hash_patch(each) for each in store.load_predictions()}
    yield from compare_patches(f"{store.root.name}/predictions.jsonl", made, patches)


def compare_patches(file: str, made: Mapping[str, str], committed: Mapping[str, str]) -> Iterator[Mismatch]:
    """Yield instances whose patches are not the same; both are hashes by instance."""
    yield from _name(file, "was committed with a patch and has none", {*committed} - {*made})
    yield from _name(file, "was committed without a patch and has one", {*made} - {*committed})
    changed = {name for name in made.keys() & committed.keys() if made[name] != committed[name]}
    yield from _name(file, "has another patch or model than was committed", changed)


def _name(file: str, what: str, instances: set[str]) -> Iterator[Mismatch]:
    if instances:
        names = ", ".join(sorted(instances)[:SHOWN])
        more = f" and {len(instances) - SHOWN} more" if len(instances) > SHOWN else ""
        yield Mismatch(file=file, what=f"{names}{more} {what}")
