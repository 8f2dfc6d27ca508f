"""SWE-Search's discriminator: debaters argue for solutions round by round, and a judge decides."""

import re
from collections.abc import Callable, Sequence

Ask = Callable[[str, str], str]  # takes a prompt and its purpose, returns the answer

SOLUTIONS = """\
Issue:
{statement}

Several solutions were found:
{patches}"""
ARGUE = """\
{solutions}
{said}
You are debater {number}. Argue in a few sentences which solution is right and why the others are not; answer what other
debaters said. Close with the number of your solution in the form <solution>0</solution>."""
DECIDE = """\
{solutions}
{said}
You are the judge. Weigh the arguments and choose the solution that solves the issue, its cause and not only its
example, without breaking anything else. Close with its number in the form <solution>0</solution>."""

_CHOICE = re.compile(r"<solution>\s*(\d+)\s*</solution>", re.ASCII)


def debate(ask: Ask, statement: str, patches: Sequence[str], *, debaters: int, rounds: int) -> int | None:
    """Return the index of the patch that the judge chooses, None if it names none; a single one wins at once."""
    if len(patches) == 1:
        return 0
    shown = "\n".join(f"Solution {index}:\n{patch}" for index, patch in enumerate(patches))
    solutions = SOLUTIONS.format(statement=statement, patches=shown)
    said: list[str] = []
    for _ in range(rounds):
        for number in range(1, debaters + 1):
            answer = ask(ARGUE.format(solutions=solutions, said=_show_debate(said), number=number), "debate")
            said.append(f"Debater {number}: {answer.strip()}")
    return read_solution(ask(DECIDE.format(solutions=solutions, said=_show_debate(said)), "decide"), len(patches))


def read_solution(answer: str, count: int) -> int | None:
    """Return the last solution's number in an answer; None unless it is below ``count``."""
    found = _CHOICE.findall(answer)
    return int(found[-1]) if found and int(found[-1]) < count else None


def _show_debate(said: Sequence[str]) -> str:
    return "\n".join(["", "The debate so far:", *said, ""]) if said else ""
