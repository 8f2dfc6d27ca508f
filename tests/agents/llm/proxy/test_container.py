"""The proxy from inside an agent's container: no network, another user, one mounted socket."""

import json
from pathlib import Path

import pytest

from assay.agents.llm.budget import BudgetLimits, Ledger, Metered
from assay.agents.llm.proxy.server import Proxy
from assay.agents.llm.scripted import Scripted

pytestmark = pytest.mark.docker

PROGRAM = """
import http.client, json, os, socket

class UnixConnection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect("/run/model/socket")

def ask(path, method="POST", key=os.environ["KEY"]):
    connection = UnixConnection("model")
    question = json.dumps({"model": "toy", "messages": [{"role": "user", "content": "hi"}]})
    connection.request(method, path, question, {"Authorization": "Bearer " + key})
    reply = connection.getresponse()
    return [reply.status, json.loads(reply.read())]

def reaches(host):
    try:
        socket.create_connection((host, 80), 1).close()
    except OSError:
        return False
    return True

print(json.dumps({
    "user": os.getuid(),
    "answer": ask("/v1/chat/completions"),
    "over_budget": ask("/v1/chat/completions"),
    "other_route": ask("/v1/files"),
    "wrong_key": ask("/v1/chat/completions", key="guess"),
    "network": [reaches("127.0.0.1"), reaches("172.17.0.1")],
}))
"""


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
