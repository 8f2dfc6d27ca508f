"""Every native solver with models that answer wrongly, with nothing, cut off, rudely, or not at all: no crash."""

import random
from collections.abc import Callable
from contextlib import nullcontext, suppress
from itertools import count
from pathlib import Path

import pytest

from assay.agents.contract import Budget
from assay.agents.llm.chat import Request
from assay.agents.llm.errors import ContextTooLong, ModelError, RequestRefused
from assay.agents.registry import make_agent
from solver_sessions import SHOP, stage
from tables import read_tables

pytestmark = pytest.mark.slow

TABLES = read_tables(__file__)
FILES = {"python": SHOP, **TABLES["files"]}

Model = Callable[[Request], str]


def answer_rudely(seed: int) -> Model:
    """Answer with pieces of all grammars in any order."""
    chosen = random.Random(seed)
    return lambda _: "".join(chosen.choice(TABLES["pieces"]) for _ in range(chosen.randint(1, 12)))


def answer_cut_off(seed: int) -> Model:
    """End within an edit, as a limit of tokens does."""
    chosen = random.Random(seed)
    return lambda _: TABLES["edit"][: chosen.randint(0, 60)]


def fail_late(error: ModelError) -> Model:
    asked = count()

    def answer(_: Request) -> str:
        if next(asked) >= 2:
            raise error
        return "```\nshop/prices.py\n```"

    return answer


MODELS: dict[str, Callable[[], Model]] = {
    "wrong": lambda: lambda _: "I do not know.",
    "silent": lambda: lambda _: "",
    "cut off": lambda: answer_cut_off(1),
    "rude": lambda: answer_rudely(2),
    "ruder": lambda: answer_rudely(3),
    "too long": lambda: fail_late(ContextTooLong("too many tokens")),
    "refusing": lambda: fail_late(RequestRefused("not today")),
}

FAILING = {"too long", "refusing"}


@pytest.mark.parametrize("solver", TABLES["solvers"])
def test_no_model_breaks_a_solver(tmp_path: Path, solver: str) -> None:
    agent, _ = make_agent(solver, TABLES["solvers"][solver])
    played = [(language, name) for language in FILES for name in MODELS if language == "python" or "rude" in name]
    for number, (language, name) in enumerate(played):
        budget = Budget(steps=8, command_seconds=5)
        on = stage(tmp_path / str(number), MODELS[name](), files=FILES[language], language=language, budget=budget)
        with suppress(ModelError) if name in FAILING else nullcontext():  # the harness maps it to a status
            status = agent.solve(on.session).status
            assert "rude" in name or (status, on.workspace.diff()) != ("submitted", "")
