"""A run of a solver: resuming, samples, budgets, kill and interrupt."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acting_solvers import Acting, fix, solver_of
from assay.agents.contract import Budget, SolutionStatus, SolveSession
from assay.agents.llm.budget import BudgetLimits, Ledger, Metered, Spent
from assay.agents.llm.cassette import Cassette, Mode
from assay.agents.llm.cassette_key import hash_question
from assay.agents.llm.chat import Answer, Message, Request, Speaker, TokenUsage
from assay.agents.llm.errors import RunBudgetExceeded
from assay.agents.llm.scripted import Scripted
from assay.agents.sampling.run import SolveRunner, mask_volatile, read_spending
from assay.agents.sampling.solve import SolveJob
from assay.cli.main import main
from assay.harness.domain import Instance
from assay.harness.errors import EngineError
from assay.harness.runs.crew import Progress
from cli.conftest import as_row
from played_endpoint import Asked, Played, Reply, played_endpoint, said
from toy import make_instance

pytestmark = pytest.mark.slow


@pytest.fixture
def instances() -> list[Instance]:
    return [make_instance(id=f"acme__calc-{number}", problem_statement=f"sum {number}") for number in range(4)]


def runner_of(root: Path, instances: list[Instance], act: Any = fix, model: Any = None, **more: Any) -> SolveRunner:
    names = ("jobs", "fresh", "settings")
    of_runner: dict[str, Any] = {name: more.pop(name) for name in names if name in more}
    model = model or Scripted(lambda _request: "fixed = True")
    solver = solver_of(root, Acting(act), instances, model, **more)
    return SolveRunner(solver, pause=0.0, **of_runner)


def test_solutions_are_in_the_order_of_the_jobs(tmp_path: Path, instances: list[Instance]) -> None:
    jobs = [SolveJob(each, sample) for sample in range(2) for each in instances]
    finished: list[tuple[str, bool]] = []
    progress = Progress(finished=lambda solution, reused: finished.append((solution.instance_id, reused)))
    solutions = runner_of(tmp_path, instances, jobs=3).execute(jobs, progress)
    assert [(each.instance_id, each.sample) for each in solutions] == [(job.instance.id, job.sample) for job in jobs]
    assert {each.status for each in solutions} == {SolutionStatus.SUBMITTED}
    assert len(finished) == 8
    assert not any(reused for _, reused in finished)


def test_finished_sample_is_not_solved_again(tmp_path: Path, instances: list[Instance]) -> None:
    jobs = [SolveJob(each) for each in instances]
    first = runner_of(tmp_path, instances).execute(jobs)
    calls: list[str] = []

    def again(session: SolveSession) -> None:
        calls.append(session.task.problem_statement)

    second = runner_of(tmp_path, instances, again).execute(jobs)
    assert calls == []
    assert [each.patch for each in second] == [each.patch for each in first]
    runner_of(tmp_path, instances, again, fresh=True).execute(jobs)
    assert len(calls) == 4


@pytest.mark.parametrize("change", ["statement", "settings", "temperature", "tree", "tokens"])
def test_changed_input_is_solved_again(tmp_path: Path, instances: list[Instance], change: str) -> None:
    one = instances[:1]
    runner_of(tmp_path, one).execute([SolveJob(one[0])])
    options: dict[str, dict[str, Any]] = {
        "settings": {"settings": {"steps": 3}},
        "temperature": {"temperature": 0.5},
        "tokens": {"max_tokens": 5},
    }
    more = options.get(change, {})
    changes: dict[str, dict[str, Any]] = {
        "statement": {"problem_statement": "another"},
        "tree": {"base_commit": "1" * 40},
    }
    other = [one[0].model_copy(update=changes.get(change, {}))]
    done: list[int] = []
    runner_of(tmp_path, other, lambda _session: done.append(1), **more).execute([SolveJob(other[0])])
    assert done == [1]


def test_limited_sample_is_solved_again_with_another_limit(tmp_path: Path, instances: list[Instance]) -> None:
    job = [SolveJob(instances[0])]

    def twice(session: SolveSession) -> None:
        fix(session)
        fix(session)

    def statuses(calls: int) -> tuple[str, int]:
        solution = runner_of(tmp_path, instances, twice, budget=Budget(llm=BudgetLimits(calls=calls))).execute(job)[0]
        return solution.status, solution.usage.calls

    assert statuses(1) == ("limit_calls", 1)
    assert statuses(2) == ("submitted", 2)
    assert statuses(9) == ("submitted", 2)


def test_only_infrastructure_failures_are_retried(tmp_path: Path, instances: list[Instance]) -> None:
    tries: list[int] = []

    def unlucky(session: SolveSession) -> None:
        tries.append(1)
        if len(tries) < 3:
            raise EngineError("the engine restarts")
        fix(session)

    (solution,) = runner_of(tmp_path, instances, unlucky).execute([SolveJob(instances[0])])
    assert (solution.status, solution.attempts) == ("submitted", 3)
    tries.clear()

    def wrong(_session: SolveSession) -> None:
        tries.append(1)
        raise ZeroDivisionError

    (solution,) = runner_of(tmp_path, instances, wrong).execute([SolveJob(instances[1])])
    assert (solution.status, solution.attempts, len(tries)) == ("agent_error", 1, 1)


def test_infrastructure_failure_is_solved_again_by_the_next_run(tmp_path: Path, instances: list[Instance]) -> None:
    def broken(_session: SolveSession) -> None:
        raise EngineError("no engine")

    (solution,) = runner_of(tmp_path, instances, broken).execute([SolveJob(instances[0])])
    assert (solution.status, solution.attempts) == ("infra_error", 3)
    (solution,) = runner_of(tmp_path, instances).execute([SolveJob(instances[0])])
    assert (solution.status, solution.attempts) == ("submitted", 1)


class Priced:
    """A model that counts its answers, at half a dollar each."""

    def __init__(self) -> None:
        self.asked: list[Request] = []

    def complete(self, request: Request) -> Answer:
        self.asked.append(request)
        return Answer(content=f"answer = {len(self.asked)}", usage=TokenUsage(prompt_tokens=7, cost=0.5))


def test_sample_stopped_by_the_run_s_budget_resumes_with_a_larger_one(
    tmp_path: Path, instances: list[Instance]
) -> None:
    model = Priced()
    recording = tmp_path / "llm.jsonl"

    def act(session: SolveSession) -> None:
        for number in range(2):
            session.model.ask([Message(role=Speaker.USER, content=f"{session.task.problem_statement} {number}")])

    def run(dollars: float) -> list[str]:
        paid = Ledger(BudgetLimits(cost=dollars), read_spending(recording), error=RunBudgetExceeded)
        with Cassette(recording, Mode.AUTO, Metered(model, paid), normalise=mask_volatile) as recorded:
            runner = runner_of(tmp_path, instances, act, recorded)
            return [each.status for each in runner.execute([SolveJob(each) for each in instances[:2]])]

    assert run(1.5) == ["empty", "limit_cost"]
    assert len(model.asked) == 3
    assert read_spending(recording) == Spent(calls=3, tokens=21, cost=1.5)
    assert run(1.5) == ["empty", "limit_cost"]
    assert len(model.asked) == 3
    assert run(5.0) == ["empty", "empty"]
    assert len(model.asked) == 4


def test_volatile_output_does_not_change_the_key_of_a_request() -> None:
    def key(text: str) -> str:
        return hash_question(Request(model="m", messages=(Message(role=Speaker.USER, content=text),)), mask_volatile)

    same = [
        ("drwxr-xr-x 2 assay assay 4096 Nov 21 17:51 src", "drwxr-xr-x 2 assay assay 4096 Dec  1  2027 src"),
        ("1 passed in 0.03s", "1 passed in 1.27s"),
        ("/tmp/pytest-of-assay-ab3/x", "/tmp/tmpq_81/x"),
        ("made 2026-11-21 17:51:03.120 +0000", "made 2027-01-02 03:04:05.6 +0000"),
        ("Sat Nov 21 17:51:44 UTC 2026", "Sun Jan  3 01:02:03 UTC 2027"),
        ("<object at 0x7f01020304>", "<object at 0x7f0a0b0c0d>"),
        ("12:01:02,345 INFO begun", "23:59:00,001 INFO begun"),
        ("host 1457586fdfc5", "host e948688481de"),
    ]
    for one, other in same:
        assert key(one) == key(other), one
    for one, other in (("1 passed", "2 passed"), ("line 17", "line 18"), ("version 2.3.1", "version 2.3.2")):
        assert key(one) != key(other)


class Endpoint(Played):
    """Counts what it answers, and from some call on answers nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.answered: list[str] = []
        self.probed = self.held = 0
        self.hold_after = 10**9

    def next(self, asked: Asked) -> Reply:
        messages = asked.body["messages"]
        with self.lock:
            if messages[0]["content"] == "Reply with OK.":
                self.probed += 1
            elif len(self.answered) >= self.hold_after:
                self.held += 1
                return Reply(delay=600)
            else:
                self.answered.append(mask_volatile(json.dumps(asked.body, sort_keys=True)))
        turn = sum(message["role"] == "assistant" for message in messages)
        return Reply(body=said(f"Next.\n```bash\n{COMMANDS[turn]}\n```"))


COMMANDS = (
    "cat STATEMENT.md; pwd; ls -la; date",
    "echo 'x = 1' > fix.py; ls -la",
    "mktemp; git log; sleep 0.1",
    "submit",
)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with played_endpoint(made := Endpoint()):
        yield made


@pytest.fixture
def command(tmp_path: Path, instances: list[Instance], endpoint: Endpoint) -> list[str]:
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(as_row(each)) + "\n" for each in instances))
    where = ["--runs-dir", str(tmp_path / "runs"), "--run-id", "r", "--engine", "fake"]
    model = ["--agent", "bash_loop", "--set", "form=block", "--model", "tiny", "--base-url", endpoint.url]
    return [sys.executable, "-m", "assay", "solve", str(tmp_path / "rows.jsonl"), *where, *model, "-j", "2"]


def _stop_when_waiting(command: list[str], endpoint: Endpoint, number: signal.Signals) -> int:
    """Start a run, send it a signal when both its workers wait for the model, and return how it ended."""
    environ = {**os.environ, "OPENAI_API_KEY": ""}  # now, so that the process and its resuming have the same settings
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environ)
    assert process.stderr is not None
    with process.stderr:
        deadline = time.monotonic() + 60
        while endpoint.held < 2:
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline, "it never asked so often"
            time.sleep(0.02)
        process.send_signal(number)
        return process.wait(timeout=60)


def _resume(command: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    """Run the command again, in this process; return its exit code."""
    monkeypatch.setattr(sys, "argv", ["assay", *command[3:]])
    monkeypatch.setenv("OPENAI_API_KEY", "")
    try:
        main()
    except SystemExit as done:
        return int(done.code or 0)
    return 0


def test_killed_run_repeats_no_answered_call_and_no_finished_instance(
    tmp_path: Path,
    command: list[str],
    endpoint: Endpoint,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Four instances of four calls each. Both workers wait for an answer when the process is killed after ten calls."""
    endpoint.hold_after = 10
    _stop_when_waiting(command, endpoint, signal.SIGKILL)
    run = tmp_path / "runs" / "r"
    for file in run.glob("instances/*/0/trajectory.json"):
        assert json.loads(file.read_text())["steps"], file
    finished = {file.parent.parent.name: file.read_bytes() for file in run.glob("instances/*/0/solution.json")}
    assert 1 <= len(finished) < 4

    endpoint.hold_after = 10**9
    assert _resume(command, monkeypatch) == 0
    assert len(endpoint.answered) == 16, "four instances of four calls are all that is ever paid for"
    assert len(set(endpoint.answered)) == 16
    for name, content in finished.items():
        assert (run / "instances" / name / "0" / "solution.json").read_bytes() == content
    events = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    started = [event["instance"] for event in events if event["event"] == "started"]
    assert all(started.count(name) == 1 for name in finished)
    rows = [json.loads(line) for line in (run / "preds.jsonl").read_text().splitlines()]
    assert [row["instance_id"] for row in rows] == [f"acme__calc-{number}" for number in range(4)]
    assert all("+x = 1" in row["model_patch"] for row in rows)

    capsys.readouterr()
    assert _resume(command, monkeypatch) == 0
    assert capsys.readouterr().err.count("known already") == 4
    assert len(endpoint.answered) == 16
    assert endpoint.probed == 2, "a finished run does not ask"


def test_interrupted_run_leaves_soon_and_resumes(
    command: list[str], endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.hold_after = 5
    assert _stop_when_waiting(command, endpoint, signal.SIGINT) == 130
    endpoint.hold_after = 10**9
    assert _resume(command, monkeypatch) == 0
    assert len(set(endpoint.answered)) == len(endpoint.answered) == 16
