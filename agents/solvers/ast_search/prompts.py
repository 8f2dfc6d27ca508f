"""Prompts of the AutoCodeRover solver."""

from collections.abc import Sequence

from assay.agents.contract import AgentTask
from assay.agents.solvers.ast_search.spectrum import SuspectRange
from assay.agents.solvers.shared.code_search import manual, show_snippet
from assay.agents.solvers.shared.codebase import Snippet
from assay.harness.templates import read_table

TEXTS: dict[str, str] = read_table(__file__)
NOT_UNDERSTOOD = "I could not tell which calls you want, or which places to change. Say it again in plain words."
NOWHERE = "None of the places that you named exists:"


PLACES = "This is the code at the places you named:"


def issue(task: AgentTask) -> str:
    return TEXTS["issue"].format(repo=task.repo, language=task.language, statement=task.problem_statement.strip())


def opening(task: AgentTask, suspects: Sequence[SuspectRange]) -> str:
    methods = "\n".join(
        f"{number}. {each.name} in {each.path}, lines {each.first} to {each.last} (score {each.score:.2f})"
        for number, each in enumerate(suspects, start=1)
    )
    parts = [TEXTS["suspects"].format(methods=methods)] if suspects else []
    return "\n\n".join([issue(task), *parts, TEXTS["search"].format(manual=manual())])


def proxy(note: str) -> str:
    """Return the prompt that turns the model's answer into JSON."""
    return TEXTS["proxy"].format(manual=manual(), note=note)


def patch(found: Sequence[tuple[Snippet, str]]) -> str:
    parts = [f"{show_snippet(each)}\n{f'It should: {wanted}' if wanted else ''}".rstrip() for each, wanted in found]
    return TEXTS["patch"].format(places="\n\n".join([PLACES, *parts]) if parts else "")
