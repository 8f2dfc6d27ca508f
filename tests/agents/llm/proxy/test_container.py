"""The proxy from inside an agent's container: no network, another user, one mounted socket."""

import json
from pathlib import Path

import pytest

from assay.agents.llm.budget import BudgetLimits, Ledger, Metered
from assay.agents.llm.proxy.server import Proxy
from assay.agents.llm.scripted import Scripted
from tables import read_tables

TEXTS = read_tables(__file__)

pytestmark = pytest.mark.docker

PROGRAM = TEXTS["program"]


def test_container_without_a_network_reaches_the_model_and_nothing_else(toolchain_image: str, tmp_path: Path) -> None:
    import docker

    tmp_path.chmod(0o755)
    model = Metered(Scripted(["hello"]), Ledger(BudgetLimits(calls=1)))
    client = docker.from_env()
    with Proxy(model, ["toy"], unix_socket=tmp_path / "socket") as proxy:
        printed = client.containers.run(
            toolchain_image,
            ["python3", "-c", PROGRAM],
            network_mode="none",
            user="12345:12345",
            environment={"KEY": proxy.token},
            volumes={str(tmp_path): {"bind": "/run/model", "mode": "ro"}},
            remove=True,
        )
    client.close()
    seen = json.loads(printed)
    assert seen["user"] == 12345
    assert seen["answer"][0] == 200
    assert seen["answer"][1]["choices"][0]["message"]["content"] == "hello"
    assert [seen[name][0] for name in ("over_budget", "other_route", "wrong_key")] == [402, 403, 401]
    assert seen["network"] == [False, False]
