"""An engine that begins to lie on request, and what is asked of a service that it answers for."""

from typing import Any

from assay import Instance
from assay.harness.engines.fake import FakeEngine
from assay.harness.engines.faulty import FaultKind, FaultyEngine
from served import Served, ask

NAMES = tuple(f"acme__calc-{number}" for number in (1, 2, 3))
ALWAYS = range(1, 10**9)


class Liar(FaultyEngine):
    """An engine that begins to lie on request."""

    wrapped: FakeEngine

    def act_out(self, instance: Instance) -> str:
        return self.wrapped.act_out(instance)

    def lie(self, kind: str) -> None:
        self._fail_at, self._kind = ALWAYS, FaultKind(kind)

    def be_honest(self) -> None:
        self._fail_at = ()


def reward(here: Served, name: str, patch: str) -> dict[str, Any]:
    with here.client() as client:
        found: dict[str, Any] = client.post("/v1/rewards", json=ask(name, patch)).json()
    return found


def report(here: Served) -> dict[str, Any]:
    with here.client() as client:
        found: dict[str, Any] = client.get("/v1/rewards").json()
    return found
