"""External programs: what they are given, how they reach the model, and how their end is judged."""

import json
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from assay.agents.contract import AgentTask, Budget, Host, SolutionStatus, SolveOutcome, SolveSession
from assay.agents.external import command
from assay.agents.external.adapter import INSTRUCTION, Adapter, load_adapter
from assay.agents.external.command import Command, CommandSettings
from assay.agents.external.install import build_mounts, tool_folder
from assay.agents.llm.budget import BudgetLimits, Ledger, Metered
from assay.agents.llm.chat import Answer, ChatModel, Finish, Request, Role, TokenUsage, ToolCall
from assay.agents.llm.errors import BudgetExceeded, ContextTooLong, ModelUnavailable, RequestRefused
from assay.agents.llm.proxy.server import Proxy
from assay.agents.llm.scripted import Scripted
from assay.agents.registry import make_agent
from assay.agents.sampling.recorded_model import ModelDefaults, RecordedModel
from assay.agents.sampling.workspaces.container import ContainerSpec
from assay.agents.sampling.workspaces.folder import folder_workspace
from assay.agents.trajectory import AgentInfo, Trajectory, TrajectoryRecorder
from assay.harness.domain import Prediction
from assay.harness.engines.base import BoxSpec
from assay.harness.engines.fake import FakeEngine
from assay.harness.errors import AssayError, UserError
from assay.harness.files import default_cache
from assay.instances.dataset.load import load
from assay.jobs.evaluate import EvaluationRun
from assay.jobs.solve import SolverRun, SolveSettings
from assay.jobs.workbench import make_sources
from leaky_image import World
from toolchains import toolchain_image

if TYPE_CHECKING:
    from assay.harness.engines.docker import DockerEngine
ASK = r"""
ask() {
    body=$(printf '{"model": "%s", "messages": [{"role": "user", "content": "%s"}]}' "$ASSAY_MODEL" "$1")
    exec 3<> "/dev/tcp/127.0.0.1/$(echo "$ASSAY_BASE_URL" | sed 's|.*:\([0-9]*\)/.*|\1|')"
    printf 'POST /v1/chat/completions HTTP/1.1\r\nAuthorization: Bearer %s\r\n' "$ASSAY_TOKEN" >&3
    printf 'Content-Length: %s\r\n\r\n%s' "${#body}" "$body" >&3
    reply=$(cat <&3)
    exec 3>&-
}
"""
"""A function of bash alone that asks a model; the reply with its headers is in $reply."""
OBEY = (
    ASK
    + r"""
ask "$(head -n 1 "$ASSAY_INSTRUCTION")"
eval "$(echo "$reply" | sed -n 's/.*RUN<\(.*\)>.*/\1/p')"
"""
)
FIX = "RUN<sed -i s/a-b/a+b/ calc.py>"
CALC = "def add(a, b): return a-b\n"


@dataclass
class Run:
    """A program on a small tree."""

    session: SolveSession
    agent: Command
    recorder: TrajectoryRecorder
    logs: Path

    def solve(self) -> SolveOutcome:
        return self.agent.solve(self.session)

    def trajectory(self) -> Trajectory:
        found = self.recorder.trajectory()
        assert found is not None
        return found

    def output(self) -> str:
        return (self.logs / "output.txt").read_text()


def adapter_file(folder: Path, adapter: Adapter) -> str:
    path = folder / f"{adapter.name}.yaml"
    path.write_text(adapter.model_dump_json(exclude_defaults=True))  # JSON is YAML
    return str(path)


@pytest.fixture
def prepare(tmp_path: Path) -> Callable[..., Run]:
    def prepare(
        run: str,
        lines: Iterable[str | Answer] | Callable[[Request], str | Answer] = (),
        *,
        budget: Budget | None = None,
        scratch: Path | None = None,
        **fields: object,
    ) -> Run:
        adapter = Adapter.model_validate({"name": "toy-agent", "run": run, "instruction": "{issue}", **fields})
        agent = Command(CommandSettings(adapter=adapter_file(tmp_path, adapter)))
        recorder = TrajectoryRecorder(None, AgentInfo(name="toy-agent", version="1", model_name="toy"))
        budget = budget or Budget()
        model: ChatModel = Metered(Scripted(lines), Ledger(budget.llm))
        session = SolveSession(
            AgentTask(repo="acme/calc", language="python", problem_statement="add subtracts\nFix it.\n"),
            folder_workspace(tmp_path / "tree", {"calc.py": CALC}),
            RecordedModel(model, recorder, ModelDefaults(model="real-name")),
            recorder,
            budget,
            scratch=scratch,
            logs=tmp_path / "logs",
        )
        return Run(session, agent, recorder, tmp_path / "logs")

    return prepare


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


def test_failure_reports_the_end_of_the_output_and_what_it_suggests(prepare: Callable[..., Run]) -> None:
    run = prepare("echo 'too many tokens'; exit 3", errors=[{"pattern": "too many", "suggests": "context_exceeded"}])
    outcome = run.solve()
    assert outcome.status is SolutionStatus.AGENT_ERROR, "output never decides"
    assert outcome.error == "toy-agent ended with exit code 3; its output suggests context_exceeded\ntoo many tokens"


def test_error_pattern_in_a_successful_run_is_ignored(prepare: Callable[..., Run]) -> None:
    run = prepare("echo 'too many tokens'", errors=[{"pattern": "too many", "suggests": "infra_error"}])
    assert run.solve().status is SolutionStatus.SUBMITTED


def test_failure_in_a_pipe_counts(prepare: Callable[..., Run]) -> None:
    assert prepare("false | cat").solve().status is SolutionStatus.AGENT_ERROR


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


def test_failing_version_command_is_an_agent_error_before_the_run(prepare: Callable[..., Run]) -> None:
    outcome = prepare("touch worked", version_command="no-such-program --version").solve()
    assert outcome.status is SolutionStatus.AGENT_ERROR
    assert "exit code 127" in outcome.error
    assert outcome.extra == {"reported_version": "", "questions": 0}


def test_reported_version_is_the_last_line_of_output(prepare: Callable[..., Run]) -> None:
    outcome = prepare("exit 0", version_command="echo loading; echo 1.2.3").solve()
    assert outcome.extra == {"reported_version": "1.2.3", "questions": 0}


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


def test_killed_program_is_an_agent_error(prepare: Callable[..., Run]) -> None:
    outcome = prepare("kill -9 $$").solve()
    assert outcome.status is SolutionStatus.AGENT_ERROR
    assert "exit code 137" in outcome.error


def test_engine_without_containers_raises(prepare: Callable[..., Run], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the engine 'fake' has none"):
        prepare("exit 0").agent.prepare(Host(FakeEngine({}), tmp_path))


@pytest.fixture
def host(docker_engine: "DockerEngine") -> Host:
    return Host(docker_engine, default_cache())


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A folder with a short path that every user may enter."""
    with TemporaryDirectory(prefix="a-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.docker
@pytest.mark.network
def test_program_in_a_container_reaches_the_model_and_nothing_else(
    prepare: Callable[..., Run], world: World, host: Host, scratch: Path
) -> None:
    program = OBEY + "(exec 4<> /dev/tcp/172.17.0.1/80) 2> /dev/null && echo reached; id -un; touch $ASSAY_HOME/mine"
    asked: list[str] = []

    def answer(request: Request) -> str:
        asked.append(str(request.messages[0].content))
        return "RUN<echo fixed > fixed.txt>"

    run = prepare(program, answer, scratch=scratch)
    run.agent.prepare(host)
    plan = world.place.plan
    inside = ContainerSpec(
        host.engine, world.image, mounts=run.agent.mounts(scratch), user=plan.user, root=plan.workdir
    )
    with inside.open() as workspace:
        outcome = run.agent.solve(replace(run.session, workspace=workspace))
        assert outcome.status is SolutionStatus.SUBMITTED, outcome.error
        assert "+fixed" in workspace.diff()
        assert workspace.exec("find /opt/agents /run/model -writable").output == ""
    assert asked == ["add subtracts"]
    assert run.output().splitlines() == ["assay"]


MINI, MORE = "mini-swe-agent", "more-itertools__more-itertools-8.14.0"
WRITE = r"""cat >> more_itertools/more.py <<'END'


def longest_common_prefix(iterables):
    for items in zip(*iterables):
        if any(item != items[0] for item in items):
            return
        yield items[0]


def iequals(*iterables):
    rows = zip_longest(*iterables, fillvalue=object())
    return all(item == row[0] for row in rows for item in row)


__all__ += ["iequals", "longest_common_prefix"]
END"""
"""Implements the release notes, in other code than the release."""
COMMANDS = ("grep -n __all__ more_itertools/more.py", WRITE, "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")
PRICES = "models: {toy: {input: 3, output: 15}}\n"


def competent(request: Request) -> Answer:
    """Answer with the next command; the length of the conversation says which."""
    number = sum(message.role is Role.ASSISTANT for message in request.messages)
    call = ToolCall(id=f"call_{number}", name="bash", arguments=json.dumps({"command": COMMANDS[number]}))
    usage = TokenUsage(prompt_tokens=1000, completion_tokens=100)
    return Answer(content="So.", finish=Finish.TOOL_CALLS, tool_calls=(call,), usage=usage, model=request.model)


@pytest.fixture
def mini(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Budget], SolverRun]]:
    """Return a function that makes a run of mini-swe-agent with an OpenAI-compatible endpoint."""
    prices = tmp_path / "prices.yaml"
    prices.write_text(PRICES)
    with Proxy(Scripted(competent), ["toy"]) as endpoint:
        monkeypatch.setenv("OPENAI_API_KEY", endpoint.token)

        def make(budget: Budget) -> SolverRun:
            choice = SolveSettings(MINI, (), "toy", endpoint.base_url, prices=prices, budget=budget)
            return SolverRun(choice, f"mini-{budget.llm.calls}", tmp_path / "runs")

        yield make


@pytest.mark.docker
@pytest.mark.network
def test_mini_swe_agent_resolves_a_bundled_instance_and_stops_at_the_budget(
    mini: Callable[[Budget], SolverRun], tmp_path: Path
) -> None:
    (instance,) = load("releases", ids=[MORE], sources=make_sources()).instances
    agent, settings = make_agent(MINI)

    (solution,) = mini(Budget()).solve([instance], agent, settings)
    assert solution.status is SolutionStatus.SUBMITTED, solution.error
    assert solution.usage.calls == 3
    # 3 answers of 1000 tokens at 3 dollars a million and 100 at 15: 3 * (0.003 + 0.0015)
    assert solution.usage.cost == pytest.approx(0.0135)
    assert solution.trajectory is not None
    actions = [call.arguments["command"] for step in solution.trajectory.steps for call in step.tool_calls or ()]
    assert actions == list(COMMANDS)
    logs = tmp_path / "runs" / "mini-None" / "instances" / MORE / "0" / "logs"
    own = Trajectory.model_validate_json((logs / "own-trajectory.json").read_bytes())
    assert own.agent.version == agent.version.split()[0]
    assert own.extra is not None
    assert own.extra["exit_status"] == "Submitted"
    prediction = Prediction(instance_id=MORE, model=MINI, patch=solution.patch)
    report, _ = EvaluationRun("evaluated", tmp_path / "runs").evaluate([(instance, prediction)], [MORE])
    assert report.resolved_ids == [MORE]

    (stopped,) = mini(Budget(llm=BudgetLimits(calls=2))).solve([instance], agent, settings)
    assert stopped.status is SolutionStatus.LIMIT_COST
    assert stopped.usage.calls == 2
    assert "def iequals" in stopped.patch, "its changes until then count"


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.toolchain("python", "3.9")
def test_mini_swe_agent_runs_in_an_older_image(docker_engine: "DockerEngine", host: Host) -> None:
    old = toolchain_image(docker_engine, "python", "3.9")
    adapter = load_adapter(MINI)
    with docker_engine.open(BoxSpec(old, mounts=build_mounts(adapter, host))) as box:
        env = {"ASSAY_TOOL": tool_folder(MINI), "PYTHONPATH": "/nowhere", "PYTHONHOME": "/nowhere"}
        done = box.exec(["bash", "-c", adapter.version_command], env=env, user="nobody")
        libc = box.exec(["ldd", "--version"])
    assert done.output.decode().strip() == adapter.install.version
    assert b"2.31" in libc.output
