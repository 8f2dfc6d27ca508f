"""External programs: what they are given, how they reach the model, and how their end is judged."""

import json
import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from assay.agents.contract import Budget, Host, SolutionStatus
from assay.agents.external import command
from assay.agents.external.adapter import INSTRUCTION, Adapter
from assay.agents.external.command import Command, CommandSettings
from assay.agents.llm.budget import BudgetLimits
from assay.agents.llm.chat import Answer, Finish, Request, ToolCall
from assay.agents.llm.errors import BudgetExceeded, ContextTooLong, ModelUnavailable, RequestRefused
from assay.agents.trajectory import Trajectory
from assay.harness.engines.fake import FakeEngine
from assay.harness.errors import AssayError, UserError
from external_programs import ASK, FIX, OBEY, Run, adapter_file, make_run

pytestmark = pytest.mark.slow


@pytest.fixture
def prepare(tmp_path: Path) -> Callable[..., Run]:
    return partial(make_run, tmp_path)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "GRACE", 0.3)


def test_version_depends_on_the_adapters_content(tmp_path: Path) -> None:
    first, other = (Adapter(name="mine", run=f"exit {code}") for code in (0, 1))
    versions = {Command(CommandSettings(adapter=adapter_file(tmp_path, each))).version for each in (first, other)}
    assert len(versions) == 2


def test_setting_version_replaces_the_adapters() -> None:
    agent = Command(CommandSettings(adapter="mini-swe-agent", version="2.0.0"))
    assert agent.adapter.install.version == "2.0.0"
    assert agent.version.startswith("2.0.0 ")


def test_program_reads_the_issue_asks_its_model_and_edits_the_tree(prepare: Callable[..., Run]) -> None:
    asked: list[Request] = []

    def answer(request: Request) -> str:
        asked.append(request)
        return FIX

    run = prepare(OBEY, answer)
    outcome = run.solve()
    assert outcome.status is SolutionStatus.SUBMITTED
    assert "+def add(a, b): return a+b" in run.session.workspace.diff()
    assert [message.content for message in asked[0].messages] == ["add subtracts"]
    assert asked[0].model == "real-name", "the run's model is asked, whatever name the program gives"
    steps = run.trajectory().steps
    assert [(step.source, step.message) for step in steps] == [("user", "add subtracts"), ("agent", FIX)]
    assert steps[1].metrics is not None
    assert steps[1].metrics.completion_tokens == 8  # 30 characters, four to a token


def test_program_may_use_another_model_api(prepare: Callable[..., Run]) -> None:
    program = """
import json, os, urllib.error, urllib.request
def ask(path, body):
    head = {"x-api-key": os.environ["ASSAY_TOKEN"], "Content-Type": "application/json"}
    asked = urllib.request.Request(os.environ["ASSAY_ORIGIN"] + path, json.dumps(body).encode(), head)
    with urllib.request.urlopen(asked) as reply:
        return json.load(reply)
said = [{"role": "user", "content": "go"}]
question = {"model": os.environ["ASSAY_MODEL"], "max_tokens": 9}
reply = ask("/v1/messages?beta=true", {**question, "messages": said})["content"]
result = {"type": "tool_result", "tool_use_id": reply[1]["id"], "content": "calc.py"}
said += [{"role": "assistant", "content": reply}, {"role": "user", "content": [result]}]
print(ask("/v1/messages", {**question, "messages": said})["content"][0]["text"])
try:
    ask("/v1/chat/completions", {**question, "messages": said})
except urllib.error.HTTPError as error:
    print(error.code)
"""
    call = ToolCall(id="first", name="bash", arguments=json.dumps({"command": "ls"}))
    answers = [Answer(content="I look.", finish=Finish.TOOL_CALLS, tool_calls=(call,)), "Done."]
    run = prepare(f"{sys.executable} -c {shlex.quote(program)}", answers, speaks="messages")
    assert run.solve().status is SolutionStatus.SUBMITTED
    assert run.output().splitlines() == ["Done.", "403"], "only its own API is served"
    (action,) = [step for step in run.trajectory().steps if step.tool_calls]
    assert action.observation is not None
    assert [result.content for result in action.observation.results] == ["calc.py"]


def test_default_instruction_wraps_the_issue(prepare: Callable[..., Run]) -> None:
    run = prepare('cat "$ASSAY_INSTRUCTION"', instruction=INSTRUCTION)
    run.solve()
    root = run.session.workspace.root
    assert run.output().startswith(f"Resolve the issue below in the repository in {root}: ")
    assert run.output().endswith("\n\nadd subtracts\nFix it.\n\n")


def test_program_gets_empty_input_its_own_folders_and_its_files(
    prepare: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = prepare(
        'cat; echo "[$ASSAY_MODEL] [$ASSAY_STEPS] [$URL] [$1]"; cat $ASSAY_HOME/conf; echo x > $ASSAY_LOGS/deep/a.log',
        budget=Budget(steps=7),
        env={"URL": "{base_url}"},
        files={"{home}/conf": "model={model}\n", "{logs}/deep/.keep": ""},
        logs=["{logs}/deep/*.log", "{logs}/none"],
    )
    assert run.solve().status is SolutionStatus.SUBMITTED
    first, second = run.output().splitlines()
    assert first.startswith("[toy] [7] [http://127.0.0.1:")
    assert first.endswith("/v1] []")
    assert second == "model=toy"
    assert (run.logs / "kept" / "deep_a.log").read_text() == "x\n"
    assert run.session.workspace.diff() == ""


def test_program_that_ignores_the_used_up_budget_is_killed(prepare: Callable[..., Run], impatient: None) -> None:
    run = prepare(
        ASK + 'for n in 1 2 3; do ask "$n"; echo "$reply" | head -n 1; done; echo fixed > calc.py; sleep 60',
        ["one", "two"],
        budget=Budget(llm=BudgetLimits(calls=1)),
    )
    with pytest.raises(BudgetExceeded) as error:
        run.solve()
    assert error.value.limit == "calls"
    assert [line.split()[1] for line in run.output().splitlines()] == ["200", "402", "402"]
    assert "+fixed" in run.session.workspace.diff(), "its changes until then count"
    statuses = [json.loads(line)["status"] for line in (run.logs / "proxy.jsonl").read_text().splitlines()]
    assert statuses == [200, 402, 402]


def test_program_may_end_by_itself_when_the_budget_is_used_up(prepare: Callable[..., Run]) -> None:
    run = prepare(ASK + "ask 1; ask 2; echo saved", ["one"], budget=Budget(llm=BudgetLimits(calls=1)))
    with pytest.raises(BudgetExceeded):
        run.solve()
    assert "saved" in run.output()


def test_each_question_counts_as_a_step(prepare: Callable[..., Run], impatient: None) -> None:
    run = prepare(ASK + "while true; do ask again; done", lambda _: "yes", budget=Budget(steps=2))
    outcome = run.solve()
    assert outcome.status is SolutionStatus.LIMIT_STEPS
    assert sum(step.source == "agent" for step in run.trajectory().steps) == 2


def test_program_beyond_its_time_is_killed(prepare: Callable[..., Run]) -> None:
    run = prepare("echo half > calc.py; sleep 60", seconds=1.0)
    outcome = run.solve()
    assert outcome.status is SolutionStatus.LIMIT_TIME
    assert "+half" in run.session.workspace.diff()


def failing(error: AssayError) -> Callable[[Request], str]:
    def answer(_: Request) -> str:
        raise error

    return answer


@pytest.mark.parametrize("code", [0, 1])
def test_unavailable_model_raises_whatever_the_exit_code(prepare: Callable[..., Run], code: int) -> None:
    run = prepare(f"{ASK} ask 1; exit {code}", failing(ModelUnavailable("overloaded")))
    with pytest.raises(ModelUnavailable):
        run.solve()


def test_too_long_context_raises_if_the_program_failed(prepare: Callable[..., Run]) -> None:
    with pytest.raises(ContextTooLong):
        prepare(f"{ASK} ask 1; exit 1", failing(ContextTooLong("too long"))).solve()
    assert prepare(f"{ASK} ask 1", failing(ContextTooLong("too long"))).solve().status is SolutionStatus.SUBMITTED


def test_refused_question_is_an_agent_error(prepare: Callable[..., Run]) -> None:
    outcome = prepare(f"{ASK} ask 1; exit 1", failing(RequestRefused("no such tool choice"))).solve()
    assert outcome.status is SolutionStatus.AGENT_ERROR
    assert "its last question was refused: no such tool choice" in outcome.error


def test_failed_question_followed_by_an_answer_is_ignored(prepare: Callable[..., Run]) -> None:
    fails = failing(ModelUnavailable("busy"))
    run = prepare(f"{ASK} ask 1; ask 2", lambda request: fails(request) if request.messages[0].content == "1" else "ok")
    assert run.solve().status is SolutionStatus.SUBMITTED


def test_own_record_is_kept_as_atif(prepare: Callable[..., Run]) -> None:
    record = json.dumps([{"role": "user", "content": "go"}, {"role": "assistant", "content": "```bash\nls\n```"}])
    run = prepare(
        f"printf %s {shlex.quote(record)} > $ASSAY_LOGS/own.json",
        trajectory={"importer": "mini", "file": "{logs}/own.json"},
    )
    run.solve()
    own = Trajectory.model_validate_json((run.logs / "own-trajectory.json").read_bytes())
    assert [step.source for step in own.steps] == ["user", "agent"]


def test_unreadable_own_record_does_not_change_the_outcome(prepare: Callable[..., Run]) -> None:
    run = prepare("echo torn > $ASSAY_LOGS/own.json", trajectory={"importer": "mini", "file": "{logs}/own.json"})
    assert run.solve().status is SolutionStatus.SUBMITTED
    assert "own.json" in (run.logs / "own-trajectory.problem.txt").read_text()


def test_kept_files_do_not_replace_the_proxys_log(prepare: Callable[..., Run]) -> None:
    run = prepare(ASK + "ask 1; echo false > $ASSAY_LOGS/proxy.jsonl", ["one"], logs=["{logs}/*"])
    run.solve()
    assert json.loads((run.logs / "proxy.jsonl").read_text())["status"] == 200
    assert (run.logs / "kept" / "proxy.jsonl").read_text() == "false\n"


def test_concurrent_questions_are_all_recorded(prepare: Callable[..., Run]) -> None:
    run = prepare(ASK + 'for n in 1 2 3 4 5 6; do (ask $n; echo "$reply" | tail -n 1) & done; wait', lambda _: "yes")
    assert run.solve().status is SolutionStatus.SUBMITTED
    assert run.output().count('"content": "yes"') == 6
    assert sum(step.source == "agent" for step in run.trajectory().steps) == 6


def test_engine_without_containers_raises(prepare: Callable[..., Run], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the engine 'fake' has none"):
        prepare("exit 0").agent.prepare(Host(FakeEngine({}), tmp_path))


SUGGESTS = {"errors": [{"pattern": "too many", "suggests": "context_exceeded"}]}


@pytest.mark.parametrize(
    ("run", "fields", "error"),
    [
        ("echo 'too many tokens'", SUGGESTS, ""),
        (
            "echo 'too many tokens'; exit 3",
            SUGGESTS,
            "toy-agent ended with exit code 3; its output suggests context_exceeded\ntoo many tokens",
        ),
        ("false | cat", {}, "toy-agent ended with exit code 1"),
        ("kill -9 $$", {}, "exit code 137"),
        ("exit 0", {"version_command": "no-such-program --version"}, "exit code 127"),
        ("exit 0", {"version_command": "echo loading; echo 1.2.3"}, ""),
    ],
    ids=["success", "suggestion", "pipe", "killed", "no version", "version"],
)
def test_exit_code_decides_and_the_output_only_suggests(
    prepare: Callable[..., Run], run: str, fields: dict[str, Any], error: str
) -> None:
    outcome = prepare(run, **fields).solve()
    assert outcome.status is (SolutionStatus.AGENT_ERROR if error else SolutionStatus.SUBMITTED)
    assert outcome.error == error if fields is SUGGESTS else error in outcome.error
    version = "1.2.3" if "1.2.3" in str(fields) else ""
    assert outcome.extra == {"reported_version": version, "questions": 0}, "the last line of its output"
