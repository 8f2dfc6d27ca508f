"""Prompts of the tree search."""

from assay.agents.contract import AgentTask
from assay.agents.llm.chat import Message, Speaker
from assay.agents.solvers.tree_search.actions import MANUAL, SearchState
from assay.agents.solvers.tree_search.search_tree import SearchNode
from assay.harness.templates import read_table

TEXTS: dict[str, str] = read_table(__file__)
SYSTEM = f"""\
You solve an issue in a repository, one action at a time. Say shortly what you want to find out or do, and end your
answer with exactly one action. The actions are:
{MANUAL}"""


OTHERS = "Others stood here before you. {feedback}\nDo something that differs from what they did."


SHORT = 1_500  # characters of one step in a history


def feedback_question(task: AgentTask, parent: SearchNode[SearchState]) -> str:
    tries = "\n".join(
        f"{number}. ({each.worth:g}) {short(each.content)}\n   judged: {each.content.why or 'not'}"
        for number, each in enumerate(parent.children, 1)
    )
    return TEXTS["feedback"].format(statement=task.problem_statement, history=history(parent), tries=tries)


def judge_question(task: AgentTask, node: SearchNode[SearchState]) -> str:
    return TEXTS["judge"].format(
        statement=task.problem_statement,
        history=history(node.parent),
        step=short(node.content),
        patch=node.content.patch or "none",
        hint=TEXTS.get(f"judge_{node.content.action.kind}", ""),
    )


def conversation(task: AgentTask, node: SearchNode[SearchState], feedback: str) -> list[Message]:
    """Return the messages in a state: the issue, each step on the path, what was judged of the last, and feedback."""
    opening = TEXTS["task"].format(repo=task.repo, language=task.language, statement=task.problem_statement.strip())
    messages = [Message(role=Speaker.SYSTEM, content=SYSTEM), Message(role=Speaker.USER, content=opening)]
    for each in node.path()[1:]:
        said = each.content.said or "(nothing)"
        messages += [
            Message(role=Speaker.ASSISTANT, content=said),
            Message(role=Speaker.USER, content=each.content.seen or "(done)"),
        ]
    judged = TEXTS["said_of"].format(value=node.worth, why=node.content.why) if node.content.why else ""
    others = OTHERS.format(feedback=feedback) if feedback else ""
    added = "\n\n".join(filter(None, (str(messages[-1].content), judged, others)))
    return [*messages[:-1], messages[-1].model_copy(update={"content": added})]


def history(node: SearchNode[SearchState] | None) -> str:
    steps = node.path()[1:] if node else []
    return "\n".join(f"{number}. {short(each.content)}" for number, each in enumerate(steps, 1)) or "none"


def short(state: SearchState) -> str:
    """Return a step and its observation, each cut to ``SHORT`` characters."""
    action = f"{state.action.kind}: {state.action.body}"
    return f"{action[:SHORT]}\n   came to: {state.seen[:SHORT]}"
