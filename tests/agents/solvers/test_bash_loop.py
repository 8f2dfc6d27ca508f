"""The loop of one model and one shell: prompts, commands and endings."""

import json
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from assay.agents.contract import AgentTask, Budget, CommandResult, SolutionStatus, SolveOutcome, SolveSession
from assay.agents.llm.budget import BudgetLimits
from assay.agents.llm.chat import Answer, Speaker, TokenUsage, ToolCall
from assay.agents.llm.errors import BudgetExceeded
from assay.agents.llm.scripted import Scripted
from assay.agents.sampling.recorded_model import ModelDefaults, RecordedModel
from assay.agents.sampling.workspaces.folder import FolderWorkspace, folder_workspace
from assay.agents.solvers.bash_loop import BashLoop
from assay.agents.trajectory import AgentInfo, TrajectoryRecorder
from assay.harness.exports.training_chat import make_chat
from played_solvers import Played, Player

WRONG = "def add(a, b):\n    return a - b\n"
FIX = "sed -i 's/a - b/a + b/' calc.py"


def block(command: str) -> str:
    return f"I do it.\n```bash\n{command}\n```"


def call(command: str, name: str = "call_1") -> Answer:
    return Answer(
        content="I do it.", tool_calls=(ToolCall(id=name, name="bash", arguments=json.dumps({"command": command})),)
    )


@pytest.fixture
def play(tmp_path: Path) -> Callable[..., Played]:
    def play(lines: Iterable[str | Answer], *, budget: Budget | None = None, **settings: Any) -> Played:
        stage = Player(Path(tempfile.mkdtemp(dir=tmp_path)), {"calc.py": WRONG}, lines, budget)
        return stage.play(BashLoop(BashLoop.Settings(**settings)), "add subtracts")

    return play


@pytest.mark.parametrize("say", [block, call])
def test_loop_acts_until_the_model_submits(play: Callable[..., Played], say: Callable[[str], str | Answer]) -> None:
    run = play([say("cat calc.py"), say(FIX), say("submit"), say("echo never > never")])
    assert run.outcome == SolveOutcome(status=SolutionStatus.SUBMITTED)
    assert "+    return a + b" in run.workspace.diff()
    assert run.workspace.read("never") is None
    assert len(run.asked) == 3


def test_model_reads_the_issue_and_then_its_command_s_output(play: Callable[..., Played]) -> None:
    run = play([block("cat calc.py; exit 3"), block("submit")])
    system, task = run.asked[0].messages
    assert (system.role, task.role) == (Speaker.SYSTEM, Speaker.USER)
    assert "add subtracts" in str(task.content)
    assert "new shell" in str(system.content)
    assert "submit" in str(system.content)
    said, heard = run.asked[1].messages[2:]
    assert (said.role, heard.role) == (Speaker.ASSISTANT, Speaker.USER)
    assert heard.content == f"[exit code 3]\n{WRONG}"


def test_tool_call_is_answered_by_a_tool_message(play: Callable[..., Played]) -> None:
    run = play([call("echo hi", "call_77"), call("submit")])
    assert [tool.name for tool in run.asked[0].tools] == ["bash"]
    said, heard = run.asked[1].messages[2:]
    assert said.tool_calls[0].id == "call_77"
    assert (heard.role, heard.tool_call_id, heard.content) == (Speaker.TOOL, "call_77", "[exit code 0]\nhi\n")


@pytest.mark.parametrize("say", [block, call])
def test_chat_for_training_is_what_the_model_saw_and_said(
    play: Callable[..., Played], say: Callable[[str], str | Answer]
) -> None:
    run = play([say("cat calc.py"), say(FIX), say("submit")])
    steps = json.loads(run.trajectory.model_dump_json(exclude_none=True))["steps"]
    chat = [(each["role"], each["content"], "tool_calls" in each) for each in make_chat(steps, "m")]
    sent = [(each.role, each.content, bool(each.tool_calls)) for each in run.asked[-1].messages]
    assert chat[: len(sent)] == sent
    assert chat[len(sent)] == ("assistant", str(sent[2][1]).replace("cat calc.py", "submit"), sent[2][2])


def test_only_files_outlive_a_command_and_programs_do_not_page(play: Callable[..., Played]) -> None:
    run = play(
        [block("echo made > made; cd /; X=1"), block("echo $PWD X=$X $PAGER $GIT_PAGER; cat made"), block("submit")]
    )
    assert run.asked[2].messages[-1].content == f"[exit code 0]\n{run.workspace.root} X= cat cat\nmade\n"


def test_slow_command_is_stopped_and_the_loop_continues(play: Callable[..., Played]) -> None:
    run = play([block("echo begun; sleep 30"), block(FIX), block("submit")], budget=Budget(command_seconds=0.5))
    assert run.asked[1].messages[-1].content == "[stopped: it took too long]\nbegun\n"
    assert "0.5 seconds" in str(run.asked[0].messages[0].content)
    assert run.workspace.diff()


def test_long_output_is_clipped(play: Callable[..., Played]) -> None:
    run = play([block("head -c 6000 /dev/zero | tr '\\0' a; head -c 6000 /dev/zero | tr '\\0' b"), block("submit")])
    shown = str(run.asked[1].messages[-1].content)
    assert (shown.count("a" * 5000), shown.count("b" * 5000)) == (1, 1)
    assert "[2000 characters are left out" in shown
    assert len(shown) < 10_200


def test_old_observations_are_collapsed_and_answers_kept(play: Callable[..., Played]) -> None:
    """Five commands, two observations kept: before the sixth answer the first three are collapsed."""
    run = play([*(block(f"printf '{n}\\n{n}\\n'") for n in range(1, 6)), block("submit")], keep=2)
    heard = [message.content for message in run.asked[5].messages[3::2]]
    old = "(an old output of 2 lines, left out)"
    assert heard == [old, old, old, "[exit code 0]\n4\n4\n", "[exit code 0]\n5\n5\n"]
    assert [f"printf '{n}" in str(message.content) for n, message in enumerate(run.asked[5].messages[2::2], 1)] == [
        True
    ] * 5


def test_malformed_answer_is_explained_and_forgotten_after_a_valid_one(play: Callable[..., Played]) -> None:
    run = play(["Done.", "Really.", block("true"), "Done.", "Really.", block(FIX), block("submit")], form="block")
    assert run.outcome.status is SolutionStatus.SUBMITTED
    reply = str(run.asked[1].messages[-1].content)
    assert "0 bash blocks" in reply
    assert "```bash\nls\n```" in reply


def test_third_malformed_answer_in_a_row_ends_the_loop_and_keeps_the_patch(play: Callable[..., Played]) -> None:
    run = play([block(FIX), "Done.", "Done.", "Done.", block("submit")])
    assert run.outcome.status is SolutionStatus.FORMAT_ERROR
    assert len(run.asked) == 4
    assert run.workspace.diff()
    assert sum("0 bash blocks" in str(step.message) for step in run.trajectory.steps) == 3


def test_malformed_calls_are_left_out_of_the_history(play: Callable[..., Played]) -> None:
    broken = Answer(tool_calls=(ToolCall(id="x", name="bash", arguments='{"command": '),))
    run = play([broken, call("submit")])
    said, heard = run.asked[1].messages[2:]
    assert not said.tool_calls
    assert said.content
    assert heard.role is Speaker.USER


@pytest.mark.parametrize(("settings", "budget"), [({"steps": 2}, Budget()), ({}, Budget(steps=2))])
def test_smaller_limit_of_steps_ends_the_loop(
    play: Callable[..., Played], settings: dict[str, int], budget: Budget
) -> None:
    run = play([block(FIX), block("true"), block("true")], budget=budget, **settings)
    assert run.outcome.status is SolutionStatus.LIMIT_STEPS
    assert len(run.asked) == 2
    assert run.workspace.diff()


def test_default_limit_is_250_steps(play: Callable[..., Played]) -> None:
    assert BashLoop.Settings().steps == 250
    assert Budget().command_seconds == 60


def test_limit_of_cost_ends_the_loop(play: Callable[..., Played]) -> None:
    """1.25 USD an answer: 2.50 are below the usual 3.00 and 3.75 are not: three answers."""
    answer = Answer(content=block("true"), usage=TokenUsage(cost=1.25))
    run = play([answer] * 9)
    assert run.outcome.status is SolutionStatus.LIMIT_COST
    assert len(run.asked) == 3
    assert len(play([answer] * 2, cost=2.5).asked) == 2


def test_exceeded_budget_passes_through(play: Callable[..., Played]) -> None:
    with pytest.raises(BudgetExceeded):
        play([block("true"), block("true"), block("true")], budget=Budget(llm=BudgetLimits(calls=2)))


def test_grammar_is_sent_instead_of_tools(play: Callable[..., Played]) -> None:
    run = play([block("submit")], form="grammar")
    assert str(run.asked[0].extra["grammar"]).startswith("root ::=")
    assert run.asked[0].tools == ()
    assert play([block("submit")], form="block").asked[0].extra == {}


def test_every_action_is_recorded_with_its_observation(play: Callable[..., Played]) -> None:
    run = play([block("echo hi"), call("exit 4", "c9"), block("submit")])
    recorded = []
    for step in run.actions:
        assert step.tool_calls is not None
        assert step.observation is not None
        result = step.observation.results[0]
        assert result.source_call_id == step.tool_calls[0].tool_call_id
        recorded.append(
            (step.tool_calls[0].arguments["command"], result.content, (result.extra or {}).get("exit_code"))
        )
    assert recorded == [
        ("echo hi", "[exit code 0]\nhi\n", 0),
        ("exit 4", "[exit code 4]\n", 4),
        ("submit", "submitted", None),
    ]


def test_workspace_that_ends_under_a_command_is_an_agent_error(tmp_path: Path) -> None:
    class Gone(FolderWorkspace):
        def exec(self, *args: Any, **options: Any) -> CommandResult:
            return CommandResult(exit_code=None, output="")

    root = folder_workspace(tmp_path / "repo", {"calc.py": WRONG}).root
    recorder = TrajectoryRecorder(None, AgentInfo(name="bash_loop", version="1"))
    recorded = RecordedModel(Scripted([block("ls")]), recorder, ModelDefaults(model="toy"))
    task = AgentTask(repo="acme/calc", language="python", problem_statement="x")
    outcome = BashLoop(BashLoop.Settings()).solve(SolveSession(task, Gone(Path(root)), recorded, recorder))
    assert outcome.status is SolutionStatus.AGENT_ERROR
    assert outcome.error == "the workspace ended while a command ran"
