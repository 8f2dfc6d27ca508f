"""The repository as Agentless shows it to the model, and how it asks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.agents.contract import AgentTask, AskOptions, Inquiry, SolveSession
from assay.agents.llm.chat import Message, Speaker
from assay.agents.roles import Role
from assay.agents.solvers.agentless.locations import SUFFIXES
from assay.agents.trajectory import Step
from assay.harness.languages.syntax import find_language


@dataclass(frozen=True, slots=True)
class Repository:
    """The issue, and the text of the source files that may be edited, without tests."""

    task: AgentTask
    files: Mapping[str, str]
    paths: frozenset[str]
    """Paths of all files, the ones that may not be edited included."""

    @property
    def language(self) -> str:
        return self.task.language


def read_repository(session: SolveSession) -> Repository:
    language = session.task.language
    texts = session.workspace.texts(sorted(SUFFIXES))
    sources = {path: texts[path] for path in sorted(texts) if not is_test(language, path)}
    return Repository(session.task, sources, frozenset(session.workspace.files()))


def is_test(language: str, path: str) -> bool:
    known = find_language(path, language)
    return known is not None and known.is_test_file(path)


def path_listing(paths: Iterable[str], characters: int) -> str:
    """Return paths as an indented listing, folders with a slash; see ``bound_lines`` for ``characters``."""
    return bound_lines(_listing_lines(sorted(paths)), characters)


def bound_lines(lines: Iterable[str], characters: int) -> str:
    """Return the first lines that fit into ``characters``, and a line that counts those left out."""
    kept: list[str] = []
    left_out = 0
    for line in lines:
        characters -= len(line) + 1
        if characters >= 0:
            kept.append(line)
        else:
            left_out += 1
    return "\n".join([*kept, *([f"({left_out} more lines are not shown)"] if left_out else [])])


def _listing_lines(paths: Sequence[str]) -> Iterator[str]:
    around: list[str] = []
    for path in paths:
        *folders, name = path.split("/")
        shared = next(
            (index for index, pair in enumerate(zip(folders, around, strict=False)) if pair[0] != pair[1]), None
        )
        depth = min(len(folders), len(around)) if shared is None else shared
        for index in range(depth, len(folders)):
            yield "  " * index + f"{folders[index]}/"
        around = folders
        yield "  " * len(folders) + name


ROLE_OF = {"repair": Role.EDITOR, "select tests": Role.TESTER, "reproduce": Role.TESTER}
"""Role of a question by its purpose; all others are the locator's."""


def make_question(
    prompt: str, purpose: str, tokens: int, temperature: float = 0.0, count: int = 1, system: str = ""
) -> Inquiry:
    how = AskOptions(temperature=temperature, max_tokens=tokens)
    role = ROLE_OF.get(purpose, Role.LOCATOR)
    before = [Message(role=Speaker.SYSTEM, content=system)] if system else []
    messages = [*before, Message(role=Speaker.USER, content=prompt)]
    return Inquiry(messages, how, count, purpose=purpose, role=role)


def ask(session: SolveSession, prompt: str, purpose: str, tokens: int, temperature: float = 0.0) -> str:
    """Return the model's answer to a prompt; the same prompt again is another sample. Raises as ``SolverModel.ask``."""
    each = make_question(prompt, purpose, tokens, temperature)
    return session.model.ask(each.messages, each.how, purpose=purpose, role=each.role).content


def draw(
    session: SolveSession, prompts: Sequence[str], purpose: str, how: tuple[int, float], count: int, system: str = ""
) -> Iterator[tuple[int, str]]:
    """Yield the number of a prompt and an answer to it, in order; ``how`` is (tokens, temperature).

    Of each prompt's answers the first is greedy. Raises as ``SolverModel.ask``, after the answers that there are.
    """
    pairs = (
        (make_question(each, purpose, how[0], system=system), make_question(each, purpose, *how, count - 1, system))
        for each in prompts
    )
    for number, answer in session.model.ask_all([question for pair in pairs for question in pair]):
        yield number // 2, answer.content


def note(session: SolveSession, text: str) -> None:
    session.recorder.add(Step(source="agent", message=text, llm_call_count=0))
