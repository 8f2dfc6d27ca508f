"""The door to bundles: what environments are made of, and what a replay compares."""

import hashlib
import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from assay.harness.bundles.seal import MANIFEST, SIGNATURE
from assay.harness.domain import Outcome
from assay.harness.engines.base import BoxSpec
from assay.harness.engines.fake import FakeEngine
from assay.harness.errors import UserError
from assay.jobs.bundle import Replay, VerifiedBundle, verify_bundle
from assay.jobs.workplace import Workplace
from sealed import Files, SealedRun, nothing_shown, packed, sealed_run


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> SealedRun:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ASSAY_CACHE", str(tmp_path_factory.mktemp("cache")))
        return sealed_run(tmp_path_factory.mktemp("sealed"))


def verified(content: bytes, folder: Path, replay: Replay | None = None) -> VerifiedBundle:
    path = folder / "tried.bundle"
    path.write_bytes(content)
    return verify_bundle(path, None, lambda: nullcontext(nothing_shown), replay=replay)


def signed_again(files: Files, sealed: SealedRun) -> bytes:
    rest = {name: text for name, text in files.items() if name not in {MANIFEST, SIGNATURE}}
    manifest = "".join(f"{hashlib.sha256(text).hexdigest()}  {name}\n" for name, text in rest.items()).encode()
    return packed({MANIFEST: manifest, SIGNATURE: sealed.key.sign(manifest).encode(), **rest})


def test_images_that_nothing_describes_are_counted(sealed: SealedRun, tmp_path: Path) -> None:
    found = verified(sealed.path.read_bytes(), tmp_path)
    assert found.holds
    assert (found.environments, found.undescribed) == (3, 3)
    assert found.gold_patches == 1


@pytest.mark.parametrize(
    ("lock", "says"),
    [
        ({"instances": {}, "layers": {"a:1": {"name": "a:1", "dockerfile": "FROM x"}}}, "not named by the hash"),
        ({"instances": {}, "texts": {"0": "x"}}, "has another hash"),
        ({"instances": 3}, "is no lock of this version"),
    ],
)
def test_a_lock_that_contradicts_itself_is_found(
    lock: dict[str, object], says: str, sealed: SealedRun, tmp_path: Path
) -> None:
    files = {**sealed.files(), "images.lock": json.dumps(lock).encode()}
    (problem,) = verified(signed_again(files, sealed), tmp_path).problems
    assert problem.file == "images.lock"
    assert says in problem.what


def test_a_replay_of_forged_evidence_shows_the_forgery(sealed: SealedRun, tmp_path: Path) -> None:
    """Evidence, verdict and figures agree, and the signature is the signer's own: only a new evaluation can say."""
    files = sealed.files()
    evidence = {
        name: text for name, text in files.items() if name.endswith("calc-2/evidence.json") and "control" not in name
    }
    ((name, text),) = evidence.items()
    forged = json.loads(text)
    forged["report"]["tests"] = dict.fromkeys(forged["report"]["tests"], "passed")
    forged["exit_code"] = 0
    files[name] = json.dumps(forged).encode()
    about = json.loads(files["runs/mine/instances/acme__calc-1/verdict.json"])["verdict"]
    better = {**about, "instance_id": "acme__calc-2"}
    verdict = "runs/mine/instances/acme__calc-2/verdict.json"
    files[verdict] = json.dumps({**json.loads(files[verdict]), "verdict": better}).encode()
    first = verified(signed_again(files, sealed), tmp_path)
    assert {each.file for each in first.problems} == {"runs/mine/verdicts.jsonl", "runs/mine/report.json"}
    lines = files["runs/mine/verdicts.jsonl"].splitlines()
    lines[1] = lines[0].replace(b"acme__calc-1", b"acme__calc-2")
    files["runs/mine/verdicts.jsonl"] = b"\n".join(lines) + b"\n"
    files["runs/mine/report.json"] = _report_of(files)
    assert verified(signed_again(files, sealed), tmp_path).holds
    replay = Replay(3, 1, Workplace(engine="fake"))
    found = verified(signed_again(files, sealed), tmp_path, replay)
    assert [str(each) for each in found.problems] == [
        f"{verdict}: evaluated anew: unresolved (1 of 1 unfixed, 0 of 1 broken), the bundle says resolved"
    ]
    assert {each.instance_id: each.after for each in found.replayed}["acme__calc-2"] is Outcome.UNRESOLVED


def _report_of(files: Files) -> bytes:
    """Return the report with a second resolved instance, as a careful forger would write it."""
    report = json.loads(files["runs/mine/report.json"])
    two = ["acme__calc-1", "acme__calc-2"]
    changes = {
        "resolved_instances": 2,
        "resolved_ids": two,
        "unresolved_instances": report["unresolved_instances"] - 1,
        "unresolved_ids": [each for each in report["unresolved_ids"] if each not in two],
        "outcomes": {**report["outcomes"], "acme__calc-2": "resolved"},
        "reasons": {**report["reasons"], "acme__calc-2": report["reasons"]["acme__calc-1"]},
        "outcome_counts": {"empty_patch": 1, "resolved": 2},
        "resolved_rate": round(2 / 3, 6),
        "operational_resolved_instances": 2,
        "operational_rate": round(2 / 3, 6),
    }
    return json.dumps({**report, **changes}).encode()


def test_a_replay_has_the_runs_own_limits(sealed: SealedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, name = sealed.files(), "runs/mine/run.json"
    run = json.loads(files[name])
    files[name] = json.dumps({**run, "settings": {**run["settings"], "timeout": "7", "strict": "yes"}}).encode()
    seen: list[float] = []
    open_ = FakeEngine.open

    def listening(engine: FakeEngine, spec: BoxSpec) -> object:
        seen.append(spec.limits.seconds)
        return open_(engine, spec)

    monkeypatch.setattr(FakeEngine, "open", listening)
    found = verified(signed_again(files, sealed), tmp_path, Replay(3, 1, Workplace(engine="fake")))
    assert found.seed == 1
    assert set(seen) == {7.0}


def test_a_bundle_that_lost_its_verdicts_is_not_replayed(sealed: SealedRun, tmp_path: Path) -> None:
    files = {
        name: text
        for name, text in sealed.files().items()
        if not (name.startswith("runs/mine/instances/") and name.endswith("/verdict.json"))
    }
    found = verified(signed_again(files, sealed), tmp_path, Replay(1, 1, Workplace(engine="fake")))
    assert not found.holds
    assert found.replayed == ()


def test_a_file_that_is_not_there_is_the_users_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        verify_bundle(tmp_path / "none", None, lambda: nullcontext(nothing_shown))
