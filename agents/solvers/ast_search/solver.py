"""Search the syntax trees, then write the patch: AutoCodeRover (Zhang et al., arXiv 2404.05427).

The model searches by calls over classes and methods until it names the places to change; a second question, the proxy,
turns what it says into JSON. Then it writes the change, and again if the change does not fit the code. Written from the
paper; where the paper ranks suspect methods by the hidden tests, this ranks by a failing test of the model's own.
"""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from pydantic import Field

from assay.agents.contract import Capabilities, SolveOutcome, SolveSession
from assay.agents.llm.chat import Message, Role
from assay.agents.solvers.ast_search import prompts
from assay.agents.solvers.ast_search.faults import Suspicion, suspect_methods
from assay.agents.solvers.ast_search.patch import PatchAttempt, attempt, best_attempt
from assay.agents.solvers.ast_search.places import NextStep, find_places, spelled
from assay.agents.solvers.shared.code_search import CodeSearch, perform
from assay.agents.solvers.shared.codebase import Codebase, Snippet
from assay.agents.solvers.shared.json_answers import ask_json
from assay.agents.solvers.shared.tries import Tries
from assay.agents.trajectory import Observation, ObservationResult, RecordedToolCall, Step
from assay.harness.domain import Model

CALLS = 10
"""Search calls of one round that are made."""


@dataclass(slots=True)
class SearchProgress:
    """A search under way: the conversation, and the places that were named last, each with what it should do."""

    messages: list[Message]
    places: list[tuple[Snippet, str]] = field(default_factory=list)


class AstSearch:
    """The solver; see the module."""

    class Settings(Model):
        """What a user may set."""

        rounds: int = Field(default=15, gt=0)
        """Of search."""
        patch_retries: int = Field(default=3, ge=0)
        """Of a change that does not fit the code."""
        spectrum: bool = False
        """Whether suspect methods are found by a failing test first; Python only."""
        formula: Literal["ochiai", "tarantula", "op2", "barinel", "dstar"] = "ochiai"
        reproduction_tries: int = Field(default=3, gt=0)
        """Of the failing test."""
        test_files: int = Field(default=5, gt=0)
        """Files of the tree's tests that are traced."""

    name: ClassVar[str] = "ast_search"
    version: ClassVar[str] = "1"
    capabilities: ClassVar[Capabilities] = Capabilities()

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def solve(self, session: SolveSession) -> SolveOutcome:
        """Find suspects if wished, search, write the change; the best of its attempts is left in the workspace."""
        code = Codebase(session.workspace.texts(), session.task.language)
        suspicion = self._suspect(session, code)
        hunt = self._search(session, code, suspicion)
        tries = self._write_patch(session, code, hunt)
        status = tries.best.status.value
        return tries.outcome({"extract_status": status, "spectrum": suspicion.problem or len(suspicion.methods)})

    def _suspect(self, session: SolveSession, code: Codebase) -> Suspicion:
        if not self.settings.spectrum:
            return Suspicion(problem="not asked for")
        options = self.settings
        found = suspect_methods(session, code, options.formula, options.reproduction_tries, options.test_files)
        told = found.problem or ", ".join(f"{each.path}: {each.name} ({each.score:.3f})" for each in found.methods)
        session.recorder.add(Step(source="system", message=f"suspect methods: {told}"))
        return found

    def _search(self, session: SolveSession, code: Codebase, suspicion: Suspicion) -> SearchProgress:
        """Let the model search until it names places that exist, or the rounds are over."""
        search = CodeSearch(code)
        hunt = SearchProgress([Message(role=Role.SYSTEM, content=prompts.SYSTEM)])
        _say(hunt.messages, prompts.opening(session.task, suspicion.methods))
        for _ in range(min(self.settings.rounds, session.budget.steps or self.settings.rounds)):
            answer = session.model.ask(hunt.messages, purpose="search")
            hunt.messages.append(answer.as_message())
            note = Message(role=Role.USER, content=prompts.proxy(answer.content))
            wish = ask_json(session.model, [note], NextStep, purpose="proxy")
            told, is_over = _follow(session, search, hunt, wish)
            if is_over:
                break
            _say(hunt.messages, f"{told}\n\n{prompts.NEXT}")
        return hunt

    def _write_patch(self, session: SolveSession, code: Codebase, hunt: SearchProgress) -> Tries[PatchAttempt]:
        """Ask for the change until it fits the code and parses."""
        _say(hunt.messages, prompts.patch(hunt.places))
        texts = {path: code.text(path) for path in code.paths}
        tries = Tries(session.workspace, best_attempt, "attempt")
        for _ in range(1 + self.settings.patch_retries):
            answer = session.model.ask(hunt.messages, purpose="patch")
            made = attempt(answer.content, texts, session.task)
            tries.add(made, extract_status=made.rank)
            if not made.problem:
                break
            hunt.messages.append(answer.as_message())
            _say(hunt.messages, prompts.AGAIN.format(problem=made.problem))
        return tries


def _follow(session: SolveSession, search: CodeSearch, hunt: SearchProgress, wish: NextStep | str) -> tuple[str, bool]:
    """Do what the model wishes; return what it is told, and whether the search is over."""
    if isinstance(wish, str):
        return prompts.NOT_UNDERSTOOD, False
    named = [(place, each.intended_behavior) for each in wish.bug_locations for place in find_places(search, each)]
    hunt.places = named or hunt.places
    if wish.API_calls:
        calls = list(dict.fromkeys(wish.API_calls))[:CALLS]
        return "\n\n".join(_performed(session, search, call) for call in calls), False
    if named:
        return "", True
    if not wish.bug_locations:
        return prompts.NOT_UNDERSTOOD, False
    return f"{prompts.NOWHERE} {', '.join(map(spelled, wish.bug_locations))}.", False


def _performed(session: SolveSession, search: CodeSearch, call: str) -> str:
    """Make a search call and note it."""
    found = perform(search, call)
    session.recorder.add(
        Step(
            source="agent",
            message="",
            tool_calls=(RecordedToolCall(tool_call_id="search", function_name="search", arguments={"call": call}),),
            observation=Observation(results=(ObservationResult(source_call_id="search", content=found.text),)),
            llm_call_count=0,
        )
    )
    return f"{call}\n{found.text}"


def _say(messages: list[Message], text: str) -> None:
    """Say something to the model; two messages of the user in a row become one, which all models understand."""
    if messages[-1].role is Role.USER:
        text = f"{messages.pop().content}\n\n{text}"
    messages.append(Message(role=Role.USER, content=text))
