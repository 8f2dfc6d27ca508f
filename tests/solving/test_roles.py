"""Which role asks which model: every native solver on a small project, with three endpoints."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.agents.contract import Budget, Oracles
from assay.agents.llm.client import Endpoint
from assay.agents.llm.named import NamedModel
from assay.agents.llm.proxy.server import Proxy
from assay.agents.llm.scripted import Scripted
from assay.agents.llm.stack import ModelSetup, Stack
from assay.agents.registry import AGENTS, make_agent
from assay.agents.roles import ROLES
from assay.agents.sampling.recorded_model import ModelDefaults, RecordedModel
from solver_sessions import SHOP, stage
from solving import competent
from solving.known import Edit, Known
from tables import read_tables

TABLES = read_tables(__file__)
SHOP_FAULT = Known(
    id="town__shop-1",
    language="python",
    mark="total() forgets the first price",
    edits=(Edit("shop/prices.py", "total", "", "    return sum(prices[1:])", "    return sum(prices)"),),
    words=("total", "prices"),
    reproduction="from shop.prices import total\n\nassert total([1, 2]) == 3\n",
)
FILES = {**SHOP, "shop/total.py": "def total_of(first, price):\n    return first + price\n"}
CHOOSING = {
    "Judge whether a patch solves an issue": competent.judge,
    "You are debater": lambda _: "The second one looks right.",
    "You are the judge. Weigh": lambda _: "<solution>1</solution>",
}
NAMES = ("first", "second", "third")


@dataclass
class ScriptedEndpoints:
    """Three running endpoints, each with one model."""

    proxies: dict[str, Proxy]
    asked: dict[str, int]

    def open(self, roles: dict[str, str]) -> Stack:
        endpoints = {
            role: Endpoint(base_url=self.proxies[name].base_url, key_env=f"{name.upper()}_KEY")
            for role, name in roles.items()
        }
        return Stack(ModelSetup(endpoint=next(iter(endpoints.values())), roles=endpoints))


@pytest.fixture
def endpoints(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedEndpoints]:
    monkeypatch.setattr(competent, "KNOWN", [SHOP_FAULT])
    for words, answering_it in CHOOSING.items():
        monkeypatch.setitem(competent.ANSWERS, words, answering_it)
    found = ScriptedEndpoints({}, dict.fromkeys(NAMES, 0))

    def answering(name: str) -> Scripted:
        def answer(request: competent.Request) -> str:
            """Every patch is another one, so that there is something to choose."""
            found.asked[name] += 1
            number = sum(found.asked.values())
            return competent.answer(request).replace("return sum(prices)\n>", f"return sum(prices) + {number} * 0\n>")

        return Scripted(answer)

    with ExitStack() as opened:
        for name in NAMES:
            found.proxies[name] = opened.enter_context(Proxy(answering(name), [name]))
            monkeypatch.setenv(f"{name.upper()}_KEY", found.proxies[name].token)
        yield found


@pytest.mark.parametrize("case", TABLES["asked"], ids=lambda case: "-".join([case["solver"], *case["settings"][:1]]))
def test_every_role_asks_its_own_model(case: dict[str, object], endpoints: ScriptedEndpoints, tmp_path: Path) -> None:
    solver, settings, asked = str(case["solver"]), case["settings"], case["asked"]
    assert isinstance(settings, list)
    assert isinstance(asked, dict)
    agent, _ = make_agent(solver, settings)
    roles = {role: NAMES[number % 3] for number, role in enumerate(agent.capabilities.roles)}
    set_up = stage(tmp_path, [], files=FILES, budget=Budget(steps=6))
    with endpoints.open(roles) as stack:
        named = {role: NamedModel(name=name) for role, name in roles.items()}
        model = RecordedModel(stack.model, set_up.recorder, ModelDefaults(model="none", roles=named))
        session = set_up.session
        object.__setattr__(session, "model", model)
        assert session.oracles == Oracles()
        agent.solve(session)
    trajectory = set_up.recorder.trajectory()
    assert trajectory is not None
    steps = [step for step in trajectory.steps if step.llm_call_count]
    seen = {(str((step.extra or {})["purpose"]), str((step.extra or {})["role"]), step.model_name) for step in steps}
    assert seen == {(purpose, role, roles[role]) for purpose, role in asked.items()}
    usage = model.usage
    assert {role: (each.model, each.calls) for role, each in usage.roles.items()} == {
        role: (roles[role], sum((step.extra or {})["role"] == role for step in steps)) for role in set(asked.values())
    }
    by_model = {name: sum(each.calls for each in usage.roles.values() if each.model == name) for name in NAMES}
    assert by_model == endpoints.asked


def test_the_table_of_roles_is_what_the_solvers_have() -> None:
    known = {name: make_agent(name)[0].capabilities.roles for name in AGENTS if name not in {"command", "replay"}}
    assert {name: roles for name, roles in known.items() if roles} == ROLES
    played = {(each["solver"], role) for each in TABLES["asked"] for role in each["asked"].values()}
    assert played - {("best_of", "retriever")} == {(solver, role) for solver, roles in ROLES.items() for role in roles}
