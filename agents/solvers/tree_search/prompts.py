"""Prompts of the tree search."""

from assay.agents.contract import AgentTask
from assay.agents.llm.chat import Message, Role
from assay.agents.solvers.tree_search.actions import MANUAL, SearchState
from assay.agents.solvers.tree_search.search_tree import SearchNode

SYSTEM = f"""\
You solve an issue in a repository, one action at a time. Say shortly what you want to find out or do, and end your
answer with exactly one action. The actions are:
{MANUAL}"""

TASK = """\
Repository: {repo} ({language})

Issue:
{statement}

Find the cause, change the code so that the issue is solved for every input it is about, check it, and finish."""

OTHERS = "Others stood here before you. {feedback}\nDo something that differs from what they did."

FEEDBACK = """\
Several programmers try to solve the issue below from the same state. Tell the next one, in a few sentences, what the
tries so far show and which other approach is worth trying. Write no code.

Issue:
{statement}

The way to this state:
{history}

Tries from here, with their values from -100 to 100:
{tries}"""

JUDGE = """\
You judge one step of a programmer who solves an issue. Say in two or three sentences whether the step is right, needed
and complete, and how likely this way leads to a solution. Close with a number from -100 (harmful) over 0 (of no use)
to 100 (surely right) in the form <value>50</value>.

Issue:
{statement}

The steps before:
{history}

The step to judge:
{step}

All changes so far:
{patch}"""

SHORT = 1_500  # characters of one step in a history


def feedback_question(task: AgentTask, parent: SearchNode[SearchState]) -> str:
    tries = "\n".join(
        f"{number}. ({each.worth:g}) {short(each.content)}" for number, each in enumerate(parent.children, 1)
    )
    return FEEDBACK.format(statement=task.problem_statement, history=history(parent), tries=tries)


def judge_question(task: AgentTask, node: SearchNode[SearchState]) -> str:
    return JUDGE.format(
        statement=task.problem_statement,
        history=history(node.parent),
        step=short(node.content),
        patch=node.content.patch or "none",
    )


def conversation(task: AgentTask, node: SearchNode[SearchState], feedback: str) -> list[Message]:
    """Return the messages in a state: the issue, every step on the path with its observation, and feedback."""
    opening = TASK.format(repo=task.repo, language=task.language, statement=task.problem_statement.strip())
    messages = [Message(role=Role.SYSTEM, content=SYSTEM), Message(role=Role.USER, content=opening)]
    for each in node.path()[1:]:
        said = each.content.said or "(nothing)"
        messages += [
            Message(role=Role.ASSISTANT, content=said),
            Message(role=Role.USER, content=each.content.seen or "(done)"),
        ]
    if feedback:
        messages[-1] = messages[-1].model_copy(
            update={"content": f"{messages[-1].content}\n\n{OTHERS.format(feedback=feedback)}"}
        )
    return messages


def history(node: SearchNode[SearchState] | None) -> str:
    steps = node.path()[1:] if node else []
    return "\n".join(f"{number}. {short(each.content)}" for number, each in enumerate(steps, 1)) or "none"


def short(state: SearchState) -> str:
    """Return a step and its observation, each cut to ``SHORT`` characters."""
    action = f"{state.action.kind}: {state.action.body}"
    return f"{action[:SHORT]}\n   came to: {state.seen[:SHORT]}"
