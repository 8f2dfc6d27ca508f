"""What a program of others asks its model, heard by the proxy, as the conversation of a sample."""

import json
import threading

from pydantic import JsonValue

from assay.agents.contract import Asking, Session
from assay.agents.llm.chat import Answer, Message, Request, Role
from assay.agents.llm.errors import BudgetExceeded
from assay.agents.trajectory import Observation, ObservationResult, Step, ToolCall
from assay.harness.errors import AssayError


class Overheard:
    """A model that passes questions on to a sample's conversation, and notes what the program did between them.

    Attributes:
        answered: how many questions had an answer.
        unanswered: why the last question had none; None if it had one.
        is_out_of_steps: whether a question was refused for the limit of steps; each question counts as one.
    """

    def __init__(self, session: Session) -> None:
        """Take the sample whose conversation this is."""
        self.answered = 0
        self.unanswered: AssayError | None = None
        self.is_out_of_steps = False
        self._session = session
        self._calls: dict[str, ToolCall] = {}
        self._told: set[str] = set()
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Answer:
        """Ask; raises ModelError and BudgetExceeded."""
        self._note_news(request)
        try:
            self._count_step()
            answer = self._session.talk.ask(request.messages, _asking(request))
        except AssayError as error:
            self.unanswered = error
            raise
        with self._lock:
            self.unanswered = None
            self.answered += 1
            self._calls |= {call.id: _action(call.id, call.name, call.arguments) for call in answer.tool_calls}
        return answer

    def finish(self) -> None:
        """Note the actions whose outcome the model was never told."""
        for call in self._calls.values():
            self._session.recorder.add(_acted(call, None))
        self._calls = {}

    def _count_step(self) -> None:
        allowed = self._session.budget.steps
        if allowed is not None and self.answered >= allowed:
            self.is_out_of_steps = True
            raise BudgetExceeded(f"the budget of {allowed} steps is used up", limit="steps")

    def _note_news(self, request: Request) -> None:
        """Note what the program tells its model of what it did since: outcomes of actions, and words of its own.

        Whatever stands before the first answer opens the conversation, and the conversation itself notes that.
        """
        roles = [message.role for message in request.messages]
        first = roles.index(Role.ASSISTANT) if Role.ASSISTANT in roles else len(roles)
        for message in request.messages[first:]:
            text = _text(message)
            with self._lock:
                is_new = f"{message.role} {message.tool_call_id} {text}" not in self._told
                self._told.add(f"{message.role} {message.tool_call_id} {text}")
                call = self._calls.pop(message.tool_call_id, None) if message.role is Role.TOOL else None
            if call is not None:
                self._session.recorder.add(_acted(call, text))
            elif is_new and message.role is Role.USER:
                self._session.recorder.add(Step(source="user", message=text))


def _asking(request: Request) -> Asking:
    """Return how a program asks; what the conversation does not know by name goes along untouched."""
    unnamed: dict[str, JsonValue] = {
        "top_p": request.top_p,
        "seed": request.seed,
        "tool_choice": request.tool_choice
        if isinstance(request.tool_choice, str | None)
        else dict(request.tool_choice),
    }
    return Asking(
        temperature=request.temperature,
        max_tokens=request.max_tokens,
        tools=request.tools,
        stop=request.stop,
        response_format=request.response_format,
        extra={**request.extra, **{name: value for name, value in unnamed.items() if value is not None}},
    )


def _action(call: str, name: str, arguments: str) -> ToolCall:
    try:
        parsed = json.loads(arguments)
    except ValueError:
        parsed = None
    return ToolCall(
        tool_call_id=call, function_name=name, arguments=parsed if isinstance(parsed, dict) else {"text": arguments}
    )


def _acted(call: ToolCall, told: str | None) -> Step:
    """Return an action as a step; nothing is asked of a model with it."""
    results = (ObservationResult(source_call_id=call.tool_call_id, content=told),)
    return Step(
        source="agent",
        message="",
        tool_calls=(call,),
        observation=Observation(results=results) if told is not None else None,
        llm_call_count=0,
    )


def _text(message: Message) -> str:
    if isinstance(message.content, str):
        return message.content
    texts = (part.model_dump().get("text") for part in message.content)
    return "\n".join(text for text in texts if isinstance(text, str))
