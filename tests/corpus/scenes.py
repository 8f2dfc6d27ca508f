"""Cases of the harness itself that need no container: faults, kills, and what a run refuses."""

import json
import os
import resource
import signal
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from assay.harness.domain import Instance, Outcome, Prediction, Verdict
from assay.harness.engines.fake import FakeEngine, image_name
from assay.harness.errors import DataError, EngineError, UserError
from assay.harness.evaluation.evaluate import Task
from assay.harness.grading.stability import measure
from assay.harness.runs.attempt import ATTEMPTS
from assay.harness.runs.report import build_report
from assay.harness.runs.runner import Runner
from assay.harness.runs.store import RunStore
from benches import StubBench
from corpus.checks import Scene
from corpus.stage import FAKE_PLAN

SECONDS_TO_DIE = 20.0


def three(scene: Scene) -> list[Instance]:
    return [scene.instance.model_copy(update={"id": f"acme__calc-{number}"}) for number in range(3)]


def gold(instance: Instance, patch: str | None = None) -> Task:
    text = instance.gold_patch if patch is None else patch
    return Task(instance, Prediction(instance_id=instance.id, model="gold", patch=text), FAKE_PLAN)


def fake(instances: list[Instance]) -> FakeEngine:
    return FakeEngine({image_name(each): each for each in instances})


def run(store: RunStore, engine: FakeEngine, tasks: list[Task], *, fresh: bool = False) -> list[Verdict]:
    runner = Runner(store, StubBench(engine), fresh=fresh, pause=0.0)
    return runner.execute(tasks)


def in_a_process(work: Callable[[], object]) -> int:
    """Do something in a process of its own; return its exit status, negative for the signal that ended it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:  # nothing of the test runner may go on in the child
            traceback.print_exc()
        finally:
            os._exit(code)
    deadline = time.monotonic() + SECONDS_TO_DIE
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError("the process did not end")


class DyingStore(RunStore):
    """Kills its process once it has written so many lines of the journal."""

    lines = 0

    def _note(self, event: str, facts: Mapping[str, Mapping[str, str]]) -> None:
        super()._note(event, facts)
        self.lines -= len(facts)
        if self.lines <= 0:
            os.kill(os.getpid(), signal.SIGKILL)


def killed_at_every_line_of_the_journal(scene: Scene) -> None:
    """63: the report after kill -9 and resume is the one of a run that nobody disturbed."""
    found = three(scene)
    tasks = [gold(found[0]), gold(found[1], patch="no diff"), gold(found[2])]
    ids = [each.id for each in found]
    undisturbed = build_report(run(RunStore(scene.run / "whole" / "run"), fake(found), tasks), ids)
    for lines in _counting():
        root = scene.run / f"killed-{lines}" / "run"
        dying = DyingStore(root)
        dying.lines = lines
        code = in_a_process(lambda: run(dying, fake(found), tasks))  # noqa: B023
        finished = sum(event["event"] == "finished" for event in RunStore(root).events())
        engine = fake(found)
        assert build_report(run(RunStore(root), engine, tasks), ids) == undisturbed
        assert engine.opened <= 3 - finished
        if code == 0:
            assert lines > len(found) * 2
            return
        assert code == -signal.SIGKILL


def _counting() -> Iterator[int]:
    yield from range(1, 50)


def torn_results(scene: Scene) -> None:
    """66: a torn or empty result is evaluated again."""
    store, engine = RunStore(scene.run), fake([scene.instance])
    run(store, engine, [gold(scene.instance)])
    path = scene.run / "instances" / scene.instance.id / "verdict.json"
    for number, content in enumerate((b"", b"{", path.read_bytes()[:-9], b"null", b"\xff\0")):
        path.write_bytes(content)
        assert run(store, engine, [gold(scene.instance)])[0].resolved
        assert engine.opened == number + 2


def stale_results(scene: Scene) -> None:
    """67: the result of another patch, or of other labels, is not taken for this one's."""
    store, engine = RunStore(scene.run), fake([scene.instance])
    run(store, engine, [gold(scene.instance)])
    wrong = gold(scene.instance, scene.instance.gold_patch.replace("a + b", "a * b"))
    assert run(store, engine, [wrong])[0].outcome is Outcome.UNRESOLVED
    fewer = scene.instance.model_copy(update={"pass_to_pass": ()})
    assert engine.opened == 2
    assert run(store, engine, [gold(fewer)])[0].resolved
    assert engine.opened == 3


def full_disk(scene: Scene) -> None:
    """68: a result that cannot be written is an infrastructure error, and the old one is still there."""
    store, engine = RunStore(scene.run), fake([scene.instance])
    run(store, engine, [gold(scene.instance)])
    folder = scene.run / "instances" / scene.instance.id
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}

    def on_a_small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))
        verdict = run(store, engine, [gold(scene.instance)], fresh=True)[0]
        assert verdict.outcome is Outcome.INFRA_ERROR, verdict
        assert "could not be written" in verdict.reason

    assert in_a_process(on_a_small_disk) == 0
    assert before == {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


FAULTS = (
    EngineError("the container engine failed: 500 Server Error"),
    EngineError("the connection to the container engine broke: timed out"),
    EngineError("the connection to the container engine broke: unexpected EOF"),
)


def failing_calls(scene: Scene) -> None:
    """69: the engine fails at its Nth call, for every N, once or from then on, in every way."""
    for number, fault in enumerate(FAULTS):
        for lasting in (False, True):
            _fail_at_every_call(scene, scene.run / f"{number}-{lasting}", fault, lasting=lasting)


def _fail_at_every_call(scene: Scene, root: Path, fault: EngineError, *, lasting: bool) -> None:
    for failing in range(1, 60):
        calls = 0

        def act(_call: str, _image: str) -> None:
            nonlocal calls
            calls += 1
            if calls == failing or (lasting and calls > failing):  # noqa: B023
                raise fault

        engine = fake([scene.instance])
        engine.fault = act
        verdict = run(RunStore(root / str(failing) / "run"), engine, [gold(scene.instance)])[0]
        assert not engine.alive
        if calls < failing:
            assert verdict.resolved
            assert failing > 5
            return
        expected = Outcome.INFRA_ERROR if lasting else Outcome.RESOLVED
        assert verdict.outcome is expected, (failing, verdict)
        assert engine.opened <= ATTEMPTS
    raise AssertionError("the calls have no end")


def two_runs_in_one_folder(scene: Scene) -> None:
    """72: the second refuses, in another process and in this one."""

    def second() -> None:
        with pytest.raises(UserError, match="another process"), RunStore(scene.run).lock():
            pass

    with RunStore(scene.run).lock():
        assert in_a_process(second) == 0
        second()
    with RunStore(scene.run).lock():
        pass


def duplicate_rows(scene: Scene) -> None:
    """74: two rows for one instance are an error, in predictions and in a data set."""
    from assay.instances.dataset.load import load
    from assay.instances.dataset.predictions import read_predictions

    scene.run.mkdir()
    row = {"instance_id": "a__b-1", "model_name_or_path": "m", "model_patch": ""}
    path = written(scene.run / "predictions.jsonl", row, {**row, "model_patch": "x"})
    with pytest.raises(DataError, match="lines 1 and 2"):
        read_predictions(path)
    with pytest.raises(UserError, match="a__b-1"):
        load(str(written(scene.run / "rows.jsonl", as_row("a__b-1"), as_row("a__b-1"))))


def ids_that_are_paths(scene: Scene) -> None:
    """75: an id that would leave its folder is an error, wherever it comes from."""
    from assay.instances.dataset.load import load
    from assay.instances.dataset.predictions import read_predictions

    scene.run.mkdir()
    for name in ("../x", "a/b", "a..b", "/etc/x", "..", "a/../../b"):
        row = {"instance_id": name, "model_name_or_path": "m", "model_patch": ""}
        with pytest.raises(DataError):
            read_predictions(written(scene.run / "predictions.jsonl", row))
        with pytest.raises(UserError):
            load(str(written(scene.run / "rows.jsonl", as_row(name))))
        with pytest.raises(ValueError, match="id"):
            Instance.model_validate({**scene.instance.model_dump(), "id": name})


def flaky_tests(scene: Scene) -> None:
    """78: a test that does not always do the same is found by repeating both controls, and quarantined."""
    from assay.harness.grading.stability import quarantine

    flaky = scene.instance.pass_to_pass[0]
    runs: dict[str, list[object]] = {"gold": [], "null": []}
    engine = fake([scene.instance])
    engine.flaky = {flaky: (True, True, True, True, False, True)}
    for number in range(3):
        for side, patch in (("gold", scene.instance.gold_patch), ("null", "")):
            store = RunStore(scene.run / f"{side}-{number}", alone=True)
            task = Task(scene.instance, Prediction(instance_id=scene.instance.id, patch=patch), FAKE_PLAN, True)
            run(store, engine, [task])
            runs[side].append(store.load_evidence(scene.instance.id))
    record = measure(scene.instance, runs["gold"], runs["null"])  # type: ignore[arg-type]
    assert record.quarantined == (flaky,)
    reduced = quarantine(scene.instance, record.quarantined)
    assert flaky not in (*reduced.fail_to_pass, *reduced.pass_to_pass)


def as_row(name: str) -> dict[str, object]:
    """Write a row of a data set as everybody has them."""
    return {
        "instance_id": name,
        "repo": "a/b",
        "base_commit": "0" * 40,
        "patch": "",
        "test_patch": "",
        "problem_statement": "",
        "hints_text": "",
        "created_at": "2023-01-01T00:00:00Z",
        "version": "1",
        "FAIL_TO_PASS": '["t"]',
        "PASS_TO_PASS": "[]",
    }


def written(path: Path, *rows: Mapping[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


HOST_SCENES: dict[str, Callable[[Scene], None]] = {
    each.__name__: each
    for each in (
        killed_at_every_line_of_the_journal,
        torn_results,
        stale_results,
        full_disk,
        failing_calls,
        two_runs_in_one_folder,
        duplicate_rows,
        ids_that_are_paths,
        flaky_tests,
    )
}
