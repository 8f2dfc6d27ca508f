"""SWE-Search's discriminator: debaters argue for solutions round by round, and a judge decides."""

import re
from collections.abc import Callable, Sequence

from assay.agents.solvers.tree_search.prompts import TEXTS

Ask = Callable[[str, str], str]  # takes a prompt and its purpose, returns the answer


_CHOICE = re.compile(r"<solution>\s*(\d+)\s*</solution>", re.ASCII)


def debate(ask: Ask, statement: str, patches: Sequence[str], *, debaters: int, rounds: int) -> int | None:
    """Return the index of the patch that the judge chooses, None if it names none; a single one wins at once."""
    if len(patches) == 1:
        return 0
    shown = "\n".join(f"Solution {index}:\n{patch}" for index, patch in enumerate(patches))
    solutions = TEXTS["solutions"].format(statement=statement, patches=shown)
    said: list[str] = []
    for _ in range(rounds):
        for number in range(1, debaters + 1):
            answer = ask(TEXTS["argue"].format(solutions=solutions, said=_show_debate(said), number=number), "debate")
            said.append(f"Debater {number}: {answer.strip()}")
    return read_solution(
        ask(TEXTS["decide"].format(solutions=solutions, said=_show_debate(said)), "decide"), len(patches)
    )


def read_solution(answer: str, count: int) -> int | None:
    """Return the last solution's number in an answer; None unless it is below ``count``."""
    found = _CHOICE.findall(answer)
    return int(found[-1]) if found and int(found[-1]) < count else None


def _show_debate(said: Sequence[str]) -> str:
    return "\n".join(["", "The debate so far:", *said, ""]) if said else ""
