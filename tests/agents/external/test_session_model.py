from pathlib import Path

import pytest

from assay.agents.contract import AgentTask, Budget, SolveSession
from assay.agents.external.session_model import SessionModel
from assay.agents.llm.chat import Answer, Finish, Message, Part, Request, Speaker, ToolCall
from assay.agents.llm.errors import BudgetExceeded, ModelUnavailable
from assay.agents.llm.scripted import Scripted
from assay.agents.sampling.recorded_model import ModelDefaults, RecordedModel
from assay.agents.sampling.workspaces.folder import folder_workspace
from assay.agents.trajectory import AgentInfo, Step, TrajectoryRecorder

GO = Message(role=Speaker.USER, content="go")


def calls(*names: str) -> Answer:
    tools = tuple(ToolCall(id=name, name="bash", arguments=f'{{"command": "{name}"}}') for name in names)
    return Answer(content="So.", finish=Finish.TOOL_CALLS, tool_calls=tools)


class Conversation:
    """A program's side of a conversation with a SessionModel."""

    def __init__(self, folder: Path, *answers: str | Answer, budget: Budget | None = None) -> None:
        self.recorder = TrajectoryRecorder(None, AgentInfo(name="toy-agent", version="1", model_name="toy"))
        self.asked: list[Request] = []
        lines = iter(answers)

        def answer(request: Request) -> str | Answer:
            self.asked.append(request)
            line = next(lines)
            if line == "busy":
                raise ModelUnavailable("busy")
            return line

        session = SolveSession(
            AgentTask(repo="acme/calc", language="python", problem_statement="add subtracts\n"),
            folder_workspace(folder, {}),
            RecordedModel(Scripted(answer), self.recorder, ModelDefaults(model="real-name")),
            self.recorder,
            budget or Budget(),
        )
        self.model = SessionModel(session)
        self.messages: list[Message] = []

    def say(self, *messages: Message, **parameters: object) -> Answer:
        self.messages += messages
        request = Request.model_validate({"model": "toy", "messages": tuple(self.messages), **parameters})
        answer = self.model.complete(request)
        self.messages.append(answer.make_message())
        return answer

    def steps(self) -> list[Step]:
        found = self.recorder.trajectory()
        return list(found.steps) if found else []

    def actions(self) -> list[tuple[str, object]]:
        """Return each recorded action's command with its result."""
        steps = [step for step in self.steps() if step.llm_call_count == 0]
        assert all(len(step.tool_calls or ()) == 1 for step in steps)
        return [
            (str(call.arguments["command"]), step.observation.results[0].content if step.observation else None)
            for step in steps
            for call in step.tool_calls or ()
        ]


def result_of(call: str, content: str) -> Message:
    return Message(role=Speaker.TOOL, content=content, tool_call_id=call)


def test_actions_are_recorded_with_the_results_that_the_program_reports(tmp_path: Path) -> None:
    program = Conversation(tmp_path, calls("ls", "pwd"), calls("git reflog"))
    program.say(GO)
    program.say(result_of("ls", "calc.py"), result_of("pwd", "/calc"))
    assert program.actions() == [("ls", "calc.py"), ("pwd", "/calc")]
    program.model.finish()
    program.model.finish()
    assert program.actions()[2:] == [("git reflog", None)], "an action without a result is recorded at the end, once"


def test_new_messages_of_the_user_are_recorded_once(tmp_path: Path) -> None:
    program = Conversation(tmp_path, "one", "two", "three")
    program.say(GO)
    program.say(Message(role=Speaker.USER, content=(Part.model_validate({"type": "text", "text": "go on"}),)))
    program.say(Message(role=Speaker.USER, content="last"))
    assert [(step.source, step.message) for step in program.steps()] == [
        ("user", "go"),
        ("agent", "one"),
        ("user", "go on"),
        ("agent", "two"),
        ("user", "last"),
        ("agent", "three"),
    ]


def test_arguments_that_are_no_object_are_recorded_as_text(tmp_path: Path) -> None:
    broken = Answer(tool_calls=(ToolCall(id="1", name="bash", arguments="ls -l"),))
    program = Conversation(tmp_path, broken)
    program.say(GO)
    program.model.finish()
    (call,) = program.steps()[-1].tool_calls or ()
    assert call.arguments == {"text": "ls -l"}


def test_parameters_of_the_request_reach_the_model(tmp_path: Path) -> None:
    program = Conversation(tmp_path, "ok")
    function = {"type": "function", "function": {"name": "run"}}
    program.say(GO, temperature=0.5, top_p=0.9, seed=7, tool_choice=function, extra={"reasoning_effort": "low"})
    (asked,) = program.asked
    assert (asked.model, asked.temperature) == ("real-name", 0.5)
    assert asked.extra == {"reasoning_effort": "low", "top_p": 0.9, "seed": 7, "tool_choice": function}


def test_question_beyond_the_limit_of_steps_is_refused(tmp_path: Path) -> None:
    program = Conversation(tmp_path, "one", "two", budget=Budget(steps=1))
    program.say(GO)
    with pytest.raises(BudgetExceeded, match="budget of 1 steps"):
        program.say(GO)
    assert program.model.is_out_of_steps
    assert program.model.answered == 1


def test_unanswered_is_the_error_of_the_last_question(tmp_path: Path) -> None:
    program = Conversation(tmp_path, "busy", "ok")
    with pytest.raises(ModelUnavailable):
        program.say(GO)
    assert isinstance(program.model.unanswered, ModelUnavailable)
    program.messages.clear()
    program.say(GO)
    assert program.model.unanswered is None
    assert program.model.answered == 1
