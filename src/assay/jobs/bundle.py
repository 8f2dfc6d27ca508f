"""Sealing a run and verifying a sealed one, as every front door does it."""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.harness.bundles.commitments import ReadLog
from assay.harness.bundles.consistency import Mismatch, Shown
from assay.harness.bundles.dataset_rows import check_rows
from assay.harness.bundles.seal import LOCK, Bundle, Sealed, seal
from assay.harness.bundles.signing import PrivateKey, Signers
from assay.harness.bundles.verify import Verification, open_runs, verify
from assay.harness.domain import INFRASTRUCTURE, ApplyStatus, Evidence, Instance, Model, Outcome, Prediction, Verdict
from assay.harness.errors import UserError
from assay.harness.files import default_cache, read_model
from assay.harness.runs.manifest import CONTROLS, FAIL_FAST, control_name
from assay.harness.runs.store import RunStore
from assay.instances.environments.images_lock import Lock, UsedImage, check_lock, make_lock
from assay.jobs.commit import check_committed
from assay.jobs.evaluate import EvaluationRun
from assay.jobs.workplace import Workplace

Steps = Callable[[], AbstractContextManager[Shown]]

SHOWN_TESTS = 20  # tests of an instance that a replay names


@dataclass(frozen=True, slots=True)
class Replay:
    """How some of a bundle's instances are evaluated anew."""

    count: int
    seed: int
    """Decides which; whoever made the bundle must not know it before."""
    place: Workplace


class ReplayedInstance(Model):
    """One instance that was evaluated anew."""

    instance_id: str
    before: Outcome
    after: Outcome
    difference: str = ""
    """The verdict's difference; empty if outcome and tests that count are the same."""
    other_tests: tuple[str, ...] = ()
    """Tests with another status that do not change the verdict, such as flaky ones."""
    image: str = ""
    """The image then and now, if that is another one."""


class VerifiedBundle(Verification):
    """What was found, with the environments and the replay."""

    environments: int = 0
    undescribed: int = 0
    """Environments that the bundle only names."""
    quarantined: int = 0
    """Expected tests that were left out because they are said to vary from run to run."""
    gold_patches: int = 0
    dataset_instances: int | None = None
    """How many instances the data set has with which those of the bundle were compared; None if with none."""
    seed: int | None = None
    replayed: tuple[ReplayedInstance, ...] = ()

    @property
    def is_interrupted(self) -> bool:
        return any(each.after in INFRASTRUCTURE for each in self.replayed)


def seal_run(store: RunStore, key: PrivateKey, output: Path, shown: Shown) -> Sealed:
    """Pack a finished run, with its controls if any, and sign it; raises UserError if its evidence does not bear it."""
    stores = [store, *_controls(store)]
    with ExitStack() as locks:
        for each in stores:
            locks.enter_context(each.lock())
        lock = make_lock(_images(stores), default_cache())
        return seal(stores, lock.model_dump_json(indent=1).encode(), key, output, shown)


def verify_bundle(
    path: Path,
    signers: Signers | None,
    steps: Steps,
    rows: Sequence[Instance] | None = None,
    replay: Replay | None = None,
    log: ReadLog | None = None,
) -> VerifiedBundle:
    """Verify a bundle and, if all of it holds, evaluate some of its instances anew.

    Args:
        path: the bundle.
        signers: keys that may have signed it; None to accept any.
        steps: open for as long as there is progress to show, except for that of the replay.
        rows: the instances of the data set that the run is said to be of; None to take the bundle's word.
        replay: None to evaluate nothing.
        log: commitments; the run must keep one. None to ask for none.

    Raises:
        UserError: the file cannot be read. RunStopped: a signal ended the replay. EngineUnavailable: no engine answers.
    """
    with TemporaryDirectory(prefix="assay-verify-") as folder:
        scratch = Path(folder)
        with steps() as shown:
            found = verify(path, signers, scratch, shown)
        result = VerifiedBundle.model_validate(found.model_dump())
        if found.bundle is None or found.graded is None:
            return result
        store = open_runs(scratch, found.bundle)[0]
        result = _add_rows(_add_lock(result, scratch), store, rows)
        if log is not None:
            problems = (*result.problems, *log[1], *check_committed(store, log[0]).problems)
            result = result.model_copy(update={"problems": problems})
        if replay and result.holds:
            replayed = tuple(_replay(store, scratch / "replay", replay))
            return _add_replay(result, found.bundle, replay.seed, replayed)
        return result


def _controls(store: RunStore) -> list[RunStore]:
    report = store.load_report()
    if report is None or report.unfit_reasons is None:
        return []
    return [RunStore(store.root.with_name(control_name(store.root.name, name))) for name in CONTROLS]


def _images(stores: Sequence[RunStore]) -> dict[str, UsedImage]:
    """Return the image of each instance that was tested in one; the run's own before the controls'."""
    used: dict[str, UsedImage] = {}
    for store in stores:
        for prediction in store.load_predictions():
            evidence = store.load_evidence(prediction.instance_id)
            if evidence and evidence.image:
                used.setdefault(prediction.instance_id, UsedImage(image=evidence.image, digest=evidence.image_digest))
    return used


def _add_lock(result: VerifiedBundle, scratch: Path) -> VerifiedBundle:
    lock = read_model(scratch / LOCK, Lock)
    wrong = list(check_lock(lock)) if lock else ["is no lock of this version of Assay"]
    problems = tuple(Mismatch(file=LOCK, what=what) for what in wrong)
    return result.model_copy(
        update={
            "problems": (*result.problems, *problems),
            "environments": len({each.image for each in lock.instances.values()}) if lock else 0,
            "undescribed": len(lock.undescribed) if lock else 0,
        }
    )


def _add_rows(result: VerifiedBundle, store: RunStore, rows: Sequence[Instance] | None) -> VerifiedBundle:
    """Add how the instances differ from those of a data set, and what in them makes a rate better than it looks."""
    quarantined = gold_patches = 0
    for prediction in store.load_predictions():
        instance = store.load_instance(prediction.instance_id)
        if instance is not None:
            quarantined += len(instance.quarantined)
            gold_patches += prediction.patch.strip() == instance.gold_patch.strip()
    update: dict[str, object] = {"quarantined": quarantined, "gold_patches": gold_patches}
    if rows is not None:
        update["dataset_instances"] = len(rows)
        update["problems"] = (*result.problems, *check_rows(store, rows))
    return result.model_copy(update=update)


def _add_replay(
    result: VerifiedBundle, bundle: Bundle, seed: int, replayed: tuple[ReplayedInstance, ...]
) -> VerifiedBundle:
    folder = f"runs/{bundle.runs[0]}/instances"
    problems = tuple(
        Mismatch(file=f"{folder}/{each.instance_id}/verdict.json", what=f"evaluated anew: {each.difference}")
        for each in replayed
        if each.difference and each.after not in INFRASTRUCTURE
    )
    return result.model_copy(update={"seed": seed, "replayed": replayed, "problems": (*result.problems, *problems)})


def _replay(store: RunStore, folder: Path, replay: Replay) -> Iterator[ReplayedInstance]:
    """Evaluate a random choice of a run's predictions anew, below ``folder``; raises UserError if there is none."""
    pairs = _chosen(store, replay)
    before = {instance.id: _evidence(store, instance.id) for instance, _ in pairs}
    settings = store.load_run().settings
    timeout = settings.get("timeout", "")
    place = replace(
        replay.place,
        timeout=float(timeout) if timeout.replace(".", "", 1).isdecimal() else None,
        strict=settings.get("strict") == "yes",
        fail_fast=settings.get(FAIL_FAST) == "yes",
    )
    run = EvaluationRun("replay", folder, place, alone=True)
    runs_empty = any(each.apply.status is ApplyStatus.EMPTY and each.exit_code is not None for each in before.values())
    _, verdicts = run.evaluate(pairs, list(before), runs_empty=runs_empty)
    for verdict in verdicts:
        old = store.load_verdict(verdict.instance_id)
        if old is not None:
            again = run.store.load_evidence(verdict.instance_id)
            yield _compare(old.verdict, verdict, before[verdict.instance_id], again)


def _chosen(store: RunStore, replay: Replay) -> list[tuple[Instance, Prediction]]:
    saved = {each.verdict.instance_id: each.verdict for each in store.load_verdicts()}
    known = sorted(name for name, verdict in saved.items() if verdict.outcome not in INFRASTRUCTURE)
    if not known:
        raise UserError(f"{store.root.name} has no verdict on a patch that could be evaluated anew")
    chosen = set(random.Random(replay.seed).sample(known, min(replay.count, len(known))))
    mine = [each for each in store.load_predictions() if each.instance_id in chosen]
    found = ((store.load_instance(each.instance_id), each) for each in mine)
    return [(instance, prediction) for instance, prediction in found if instance is not None]


def _evidence(store: RunStore, instance_id: str) -> Evidence:
    found = store.load_evidence(instance_id)
    if found is None:
        raise UserError(f"{store.root.name} has no evidence of {instance_id}")
    return found


def _compare(old: Verdict, new: Verdict, before: Evidence, after: Evidence | None) -> ReplayedInstance:
    then, now = before.report.tests, after.report.tests if after else {}
    names = [name for name in sorted({*then, *now}) if then.get(name) != now.get(name)]
    other = [f"{name}: {then.get(name, 'absent')} then, {now.get(name, 'absent')} now" for name in names]
    is_elsewhere = after is not None and after.image != before.image
    return ReplayedInstance(
        instance_id=old.instance_id,
        before=old.outcome,
        after=new.outcome,
        difference=_difference(old, new),
        other_tests=tuple(other[:SHOWN_TESTS]),
        image=f"{before.image} then, {after.image} now" if after and is_elsewhere else "",
    )


def _difference(old: Verdict, new: Verdict) -> str:
    if old.outcome is not new.outcome:
        return f"{new.outcome} ({new.reason}), the bundle says {old.outcome}"
    parts = []
    for kind, then, now in (("unfixed", old.unfixed, new.unfixed), ("broken", old.broken, new.broken)):
        changed = sorted({*then} ^ {*now})
        if changed:
            more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
            parts.append(f"{changed[0]}{more} {'was' if changed[0] in then else 'is now'} {kind}")
    return "; ".join(parts)
