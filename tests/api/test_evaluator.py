"""The Python API: verdicts without a run folder, in order, in threads and in an event loop, and with a folder."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import fields
from itertools import repeat
from pathlib import Path

import pytest

from assay import Evaluator, Instance, Outcome, PatchDiff, Prediction, UserError
from assay.harness.domain import Rule
from assay.harness.engines.fake import FakeEngine
from assay.harness.errors import DataError, EngineError, RunStopped
from assay.harness.runs.attempt import ATTEMPTS
from assay.jobs.workplace import Workplace, WorkplaceSettings
from toy import GOLD, make_instances

WRONG = GOLD.replace("+    return a + b", "+    return a * b")


@pytest.fixture
def instances() -> list[Instance]:
    return make_instances((1, 2, 3))


@pytest.fixture
def evaluator(instances: list[Instance]) -> Iterator[Evaluator]:
    with Evaluator(instances, engine="fake", jobs=2) as opened:
        yield opened


@pytest.fixture
def engine(evaluator: Evaluator) -> FakeEngine:
    engine = evaluator.place.bench.engine
    assert isinstance(engine, FakeEngine)
    return engine


def test_the_gold_patch_is_rewarded_and_others_are_not(evaluator: Evaluator, instances: list[Instance]) -> None:
    verdicts = [evaluator.evaluate(instances[0], patch) for patch in (GOLD, WRONG, "", "no diff")]

    outcomes = [Outcome.RESOLVED, Outcome.UNRESOLVED, Outcome.EMPTY_PATCH, Outcome.PATCH_REJECTED]
    assert [verdict.outcome for verdict in verdicts] == outcomes
    assert [verdict.reward for verdict in verdicts] == [1.0, 0.0, 0.0, 0.0]


def test_an_instance_can_be_named_in_any_case_and_an_unknown_one_suggests_the_nearest(evaluator: Evaluator) -> None:
    assert evaluator.evaluate("ACME__calc-2", GOLD).instance_id == "acme__calc-2"
    with pytest.raises(UserError, match=r"no instance acme__calk-1; close: acme__calc-1"):
        evaluator.evaluate("acme__calk-1", GOLD)


@pytest.mark.parametrize("rule", ["multi-swe-bench", "r2e"])
def test_a_rule_over_earlier_runs_needs_an_instance_that_has_them(evaluator: Evaluator, rule: str) -> None:
    instance = make_instances((1,))[0].model_copy(update={"rule": Rule(rule)})
    remedy = f"acme__calc-1: field stages: is missing; add it, since the rule {rule} compares with earlier runs"
    with pytest.raises(DataError, match=remedy):
        evaluator.evaluate(instance, GOLD)


def test_a_prediction_is_a_patch_too_and_judged_with_its_evidence(evaluator: Evaluator) -> None:
    prediction = Prediction(instance_id="acme__calc-1", model="m", patch=GOLD)
    assert evaluator.evaluate("acme__calc-1", prediction).resolved
    verdict, evaluation = evaluator.judge("acme__calc-1", GOLD)
    assert verdict.resolved
    assert evaluation.evidence.report is not None
    assert evaluation.patch == GOLD


def test_nothing_is_written_without_a_folder(evaluator: Evaluator, in_folder: Path) -> None:
    evaluator.evaluate("acme__calc-1", GOLD)
    assert list(in_folder.iterdir()) == []


@pytest.mark.parametrize("jobs", [1, 2, 7])
def test_many_verdicts_come_in_the_order_of_their_pairs(
    evaluator: Evaluator, instances: list[Instance], jobs: int
) -> None:
    pairs = [(instances[number % 3], GOLD if number % 2 else WRONG) for number in range(100)]

    verdicts = list(evaluator.evaluate_many(pairs, jobs=jobs))

    assert [verdict.instance_id for verdict in verdicts] == [instance.id for instance, _ in pairs]
    assert [verdict.resolved for verdict in verdicts] == [patch == GOLD for _, patch in pairs]


def test_endless_pairs_are_read_as_they_are_needed(evaluator: Evaluator) -> None:
    verdicts = evaluator.evaluate_many(repeat(("acme__calc-1", GOLD)), jobs=2)
    assert [next(verdicts).resolved for _ in range(5)] == [True] * 5
    verdicts.close()  # type: ignore[attr-defined]


def test_a_bad_pair_fails_at_its_turn(evaluator: Evaluator) -> None:
    verdicts = evaluator.evaluate_many([("acme__calc-1", GOLD), ("nobody", GOLD), ("acme__calc-2", GOLD)])
    assert next(verdicts).resolved
    with pytest.raises(UserError, match="nobody"):
        next(verdicts)


def test_calls_in_an_event_loop_run_side_by_side(evaluator: Evaluator, engine: FakeEngine) -> None:
    engine.seconds = 0.3
    most, lock, inside = 0, threading.Lock(), threading.Semaphore(2)

    def counting(call: str, _image: str) -> None:
        nonlocal most
        if call == "open":
            with lock:
                most = max(most, len(engine.alive) + 1)
            assert inside.acquire(blocking=False), "more than two at once"
        elif call == "remove":
            inside.release()

    engine.fault = counting

    async def all_of_them() -> list[bool]:
        calls = [evaluator.evaluate_async("acme__calc-1", GOLD) for _ in range(4)]
        return [verdict.resolved for verdict in await asyncio.gather(*calls)]

    assert asyncio.run(all_of_them()) == [True] * 4
    assert most == 2


def test_a_failing_engine_is_asked_again_and_gives_no_reward(evaluator: Evaluator, engine: FakeEngine) -> None:
    calls = []

    def fault(call: str, _image: str) -> None:
        calls.append(call)
        raise EngineError("no engine today")

    engine.fault = fault
    verdict = evaluator.evaluate("acme__calc-1", GOLD)

    assert (verdict.outcome, verdict.reward, len(calls)) == (Outcome.INFRA_ERROR, None, ATTEMPTS)


def test_an_engine_that_recovers_gives_the_verdict(evaluator: Evaluator, engine: FakeEngine) -> None:
    failures = iter([True, False])

    def fault(call: str, _image: str) -> None:
        if call == "open" and next(failures):
            raise EngineError("not yet")

    engine.fault = fault
    assert evaluator.evaluate("acme__calc-1", GOLD).resolved


def test_settings_are_those_of_a_workplace_or_a_workplace_is_given(instances: list[Instance]) -> None:
    assert {*WorkplaceSettings.__annotations__} == {each.name for each in fields(Workplace) if each.init}
    place = Workplace(engine="fake")
    assert Evaluator(instances, place=place).place is place
    with pytest.raises(TypeError, match="not both"):
        Evaluator(instances, place=place, jobs=2)


def test_evaluator_closed_before_its_engine_is_opened_opens_none(instances: list[Instance]) -> None:
    evaluator = Evaluator(instances, engine="fake")
    evaluator.close()
    with pytest.raises(RunStopped):
        evaluator.evaluate("acme__calc-1", GOLD)


def test_a_closed_evaluator_ends_what_is_at_work(evaluator: Evaluator, engine: FakeEngine) -> None:
    engine.seconds = 600
    begun = threading.Event()
    engine.fault = lambda _call, _image: begun.set()
    ended: list[BaseException] = []

    def work() -> None:
        try:
            evaluator.evaluate("acme__calc-1", GOLD)
        except RunStopped as error:
            ended.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(600)
    evaluator.close()
    thread.join(600)

    assert len(ended) == 1
    assert not engine.alive


def test_a_run_folder_holds_everything_and_resumes(
    evaluator: Evaluator, engine: FakeEngine, instances: list[Instance], tmp_path: Path
) -> None:
    pairs = [(instance, GOLD) for instance in instances]

    reports = [evaluator.run(pairs, tmp_path / "runs" / "mine") for _ in range(2)]

    assert [report.resolved_instances for report in reports] == [3, 3]
    assert engine.opened == 3
    folder = tmp_path / "runs" / "mine"
    assert (folder / "instances" / "acme__calc-1" / "evidence.json").is_file()
    assert {"run.json", "report.json", "verdicts.jsonl", "predictions.jsonl"} <= {
        each.name for each in folder.iterdir()
    }


def test_a_run_folder_takes_one_patch_for_each_instance(evaluator: Evaluator, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there are several for acme__calc-1"):
        evaluator.run([("acme__calc-1", GOLD), ("acme__calc-1", WRONG)], tmp_path / "mine")
    assert list(tmp_path.iterdir()) == []


def test_a_comparison_that_cannot_be_made_says_why(evaluator: Evaluator) -> None:
    record = PatchDiff(evaluator, budget=5, kept=None).compare("acme__calc-1", GOLD)
    assert record.comparison.finding == "not_assessed"
    assert [each.note for each in record.comparison.generators if each.note]
    with pytest.raises(UserError, match="model=ModelChoice"):
        PatchDiff(evaluator, generators=("llm",)).compare("acme__calc-1", GOLD)


def test_what_is_known_of_gold_is_kept_for_the_next_candidate(evaluator: Evaluator, tmp_path: Path) -> None:
    def compare(wrong: str, kept: Path | None) -> None:
        candidate = GOLD.replace("+    return a + b", f"+    return a {wrong} b")
        PatchDiff(evaluator, generators=("suites",), confirmations=3, kept=kept).compare("acme__calc-1", candidate)

    compare("*", None)
    compare("*", tmp_path / "kept")
    files = {*(tmp_path / "kept").iterdir()}
    compare("-", tmp_path / "kept")
    assert files
    assert {*(tmp_path / "kept").iterdir()} == files
    assert [*tmp_path.iterdir()] == [tmp_path / "kept"]


def test_every_public_name_can_be_imported() -> None:
    import assay

    for name in assay.__all__:
        assert getattr(assay, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        assay.nothing  # noqa: B018


def test_ctrl_c_ends_many_evaluations_at_once(tmp_path: Path, instances: list[Instance]) -> None:
    (tmp_path / "instance.json").write_text(instances[0].model_dump_json())
    program = (
        "from pathlib import Path\n"
        "from assay import Evaluator, Instance\n"
        "instance = Instance.model_validate_json(Path('instance.json').read_text())\n"
        "with Evaluator([instance], engine='fake', jobs=2) as evaluator:\n"
        "    print('begun', flush=True)\n"
        "    list(evaluator.evaluate_many([(instance, instance.gold_patch)] * 9))\n"
    )
    env = {**os.environ, "ASSAY_FAKE_SECONDS": "600"}
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=env,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        time.sleep(0.5)  # the evaluations have begun, or begin after the signal: either way they end
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode != 0
    assert errors.rstrip().endswith("KeyboardInterrupt")
