"""Making an instance's sealed tests: gold has to give the answers in three runs of three, and base another one."""

from collections.abc import Mapping, Sequence

from assay.harness.counters.records import Recorded, agree, judge_passes, list_texts, read_records
from assay.harness.counters.runs import Note, TestRun
from assay.harness.counters.sealing import Flipping, Sealable, SealedFiles, are_shown, render_sealed, seal_files
from assay.harness.counters.twins import AssertedFile
from assay.harness.domain import PASSING, NoSeal, Seal, SealSet

CONFIRMED = 2
"""More runs with gold without the answers, and with a patch that gave a wrong one."""


def make_seals(
    run: TestRun, files: Mapping[str, AssertedFile], flipping: Mapping[str, Flipping], others: Sequence[str], note: Note
) -> SealSet:
    """Take the answers out of the tests that can be sealed; raises as ``TestRun.run``."""
    chosen = seal_files(files, flipping, others)
    if not chosen.flipping:
        return SealSet(missing=dict(chosen.missing))
    note(f"sealing {len(chosen.flipping)} tests")
    answered = run.run_gold(_encode(render_sealed(files, chosen.seals, answered=True)))
    texts = render_sealed(files, chosen.seals)
    seals = _read_seals(chosen, read_records(answered.records), flipping)
    shown = "".join("\0".join((*texts.values(), *others)).split())
    hidden = [each for each in seals if not _is_shown(each, shown)]
    missing = {
        **chosen.missing,
        **_explain(chosen, hidden, NoSeal.ELSEWHERE),
        **_explain(chosen, seals, NoSeal.NO_ANSWER),
    }
    kept, unstable = hidden, set[str]()
    for number in range(CONFIRMED):
        note(f"confirming {len(kept)} sealed assertions, {number + 1} of {CONFIRMED}")
        done = run.run_gold(_encode(texts))
        statuses, records = run.read_statuses(done), read_records(done.records)
        unstable |= {label for label in chosen.flipping if not (statuses(label) and statuses(label) <= PASSING)}
        kept = [each for each in kept if judge_seal(each, records)]
    missing |= {**_explain(chosen, kept, NoSeal.NO_ANSWER), **missing}
    kept = [_leave(each, unstable) for each in kept]
    missing |= {**dict.fromkeys(sorted(unstable), NoSeal.UNSTABLE), **missing}
    note("running the sealed tests without the fix")
    records = read_records(run.run("", _encode(texts)).records)
    same = {each.number for each in kept if judge_seal(each, records)}
    final = [each.model_copy(update={"flipping": ()}) if each.number in same else each for each in kept]
    made = SealSet(files=texts, seals=tuple(final), missing=missing)
    return made.model_copy(update={"missing": {**_explain(chosen, final, NoSeal.SAME), **missing}})


def judge_seal(seal: Seal, records: Mapping[int, Sequence[Recorded]], *, passed: bool = True) -> bool | None:
    """Return whether the records of a seal agree with its answers; without any, none is missed unless ``passed``."""
    own = records.get(seal.number, ())
    if not own and not passed:
        return True
    return judge_passes(own, seal.answers, alike=seal.alike, certain=seal.certain)


def _read_seals(
    chosen: SealedFiles, records: Mapping[int, Sequence[Recorded]], flipping: Mapping[str, Flipping]
) -> list[Seal]:
    """Return the seals whose answers are known and agree with what gold gave."""
    seals = list[Seal]()
    for number, each in enumerate(chosen.seals):
        own = records.get(number, ())
        labels = [label for label, found in flipping.items() if (each.path, each.test) in found.tests]
        if labels and own and all(agree(record, record.expected, alike=each.alike) for record in own):
            seals.append(_make_seal(each, number, labels, own, chosen))
    return seals


def _make_seal(
    each: Sealable, number: int, labels: Sequence[str], records: Sequence[Recorded], chosen: SealedFiles
) -> Seal:
    return Seal(
        number=number,
        test=each.test.name,
        labels=tuple(labels),
        flipping=tuple(label for label, numbers in chosen.flipping.items() if number in numbers),
        alike=each.alike,
        certain=each.certain,
        answers=tuple(record.expected for record in records),
    )


def _is_shown(seal: Seal, shown: str) -> bool:
    """Return whether an answer that is a text stands in the tests even so; one of a few characters may."""
    texts = ["".join(text.split()) for answer in seal.answers for text in list_texts(answer)]
    return len(texts) == len(seal.answers) and are_shown(texts, shown)


def _explain(chosen: SealedFiles, seals: Sequence[Seal], reason: NoSeal) -> dict[str, NoSeal]:
    """Return the labels at none of whose flipping assertions there is one of the seals."""
    left = {label for seal in seals for label in seal.flipping}
    return {label: reason for label in chosen.flipping if label not in left}


def _leave(seal: Seal, labels: set[str]) -> Seal:
    kept = {name: tuple(each for each in getattr(seal, name) if each not in labels) for name in ("labels", "flipping")}
    return seal.model_copy(update=kept)


def _encode(texts: Mapping[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in texts.items()}
