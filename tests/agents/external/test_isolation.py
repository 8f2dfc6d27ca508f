"""Ways in which an agent could look for the answer; each fails in its container.

Where an image can be made to leak on purpose, the same attempt is shown to succeed there first.
"""

import http.server
import shlex
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from assay.agents.llm.proxy.server import Proxy
from assay.agents.llm.scripted import Scripted
from assay.agents.sampling.workspaces.agent_image import AgentImages, check_start
from assay.agents.sampling.workspaces.container import ContainerSpec, ContainerWorkspace
from assay.agents.sampling.workspaces.opener import agent_container
from assay.harness.engines.base import Box, BoxSpec
from assay.harness.errors import EnvironmentFailure
from leaky_image import FUTURE, World, with_layer

pytestmark = pytest.mark.docker


@dataclass(frozen=True)
class Container:
    """An agent's container with the proxy's socket, and a container of a leaking image."""

    workspace: ContainerWorkspace
    world: World
    proxy: Proxy
    scratch: Path
    leaky: Box

    def run(self, command: str, seconds: float = 20.0) -> tuple[int | None, str]:
        done = self.workspace.exec(command, seconds=seconds)
        return done.exit_code, done.output

    def words_in_files(self, words: Sequence[str]) -> set[str]:
        """Return those of the words that any file has; they come from standard input, or grep would find itself."""
        search = "cat > /dev/shm/w; grep -rohsIF --exclude-dir={proc,sys,dev} -f /dev/shm/w /"
        return set(self.workspace.exec(search, stdin="\n".join(words).encode(), seconds=120).output.splitlines())

    def finds(self, command: str) -> bool:
        """Return whether a command's output reveals later history."""
        return FUTURE in self.run(command)[1]

    def leaks(self, command: str) -> bool:
        """Return whether the same command does in the leaking image."""
        return FUTURE.encode() in self.leaky.exec(["bash", "-c", command], user="assay", workdir="/testbed").output

    def ask(self, method: str, path: str, body: str = "", token: str = "") -> tuple[int, str]:
        """Ask the proxy over its socket; return status and reply."""
        program = (
            "import http.client, socket, sys\n"
            "connection = http.client.HTTPConnection('localhost')\n"
            "connection.sock = socket.socket(socket.AF_UNIX)\n"
            "connection.sock.connect('/run/assay/model.sock')\n"
            "method, path, body, token = sys.argv[1:]\n"
            "connection.request(method, path, body.encode() or None, {'Authorization': 'Bearer ' + token})\n"
            "reply = connection.getresponse()\n"
            "print(reply.status, reply.read().decode())\n"
        )
        code, output = self.run(shlex.join(["python", "-c", program, method, path, body, token]))
        assert code == 0, output
        status, _, text = output.partition(" ")
        return int(status), text


@pytest.fixture(scope="module")
def cell(world: World) -> Iterator[Container]:
    with TemporaryDirectory(prefix="a-") as name:
        scratch = Path(name)
        scratch.chmod(0o755)
        model = Scripted(lambda _request: "hello")
        labels = {"assay.instance": world.place.instance.id}
        with Proxy(model, ["tiny"], unix_socket=scratch / "model.sock") as proxy:
            where = agent_container(world.engine, world.image, world.place.plan, labels, {name: "/run/assay"})
            leaky = world.engine.open(BoxSpec(world.leaky, world.place.plan.limits))
            with where.open() as workspace, leaky as box:
                check_start(workspace)
                yield Container(workspace, world, proxy, scratch, box)


HISTORY = {
    "log of all refs": "git log --all --format=%B -p",
    "reflog": "git reflog --all; git log -g --all -p; cat .git/logs/HEAD",
    "dangling objects": "git fsck --lost-found --no-reflogs; cat .git/lost-found/*/*",
    "heads of other operations": "git show ORIG_HEAD; git log FETCH_HEAD; cat .git/ORIG_HEAD .git/FETCH_HEAD",
    "packed and loose objects": "git cat-file --batch-all-objects --batch --buffer",
    "tags": "git tag -n; git show v2; ls -R .git/refs; cat .git/packed-refs",
    "branches and remotes": "git branch -a; git remote -v; git for-each-ref; git ls-remote origin",
    "stash": "git stash list -p; git show refs/stash",
    "package caches": "grep -r . /root/.cache /home/*/.cache",
    "files beside the tree": "cat /home/*.patch",
}


@pytest.mark.parametrize("what", HISTORY)
def test_later_history_is_nowhere(cell: Container, what: str) -> None:
    command = HISTORY[what]
    assert cell.leaks(command), "the attempt itself does not work"
    assert not cell.finds(command), cell.run(command)[1]


def test_repository_has_no_alternates(cell: Container) -> None:
    show = f"test ! -e .git/objects/info/alternates || echo {FUTURE}"
    assert cell.leaks(show)
    assert not cell.finds(show)


def test_harness_repository_holds_only_the_base(cell: Container) -> None:
    command = "git --git-dir=/var/lib/assay/store cat-file --batch-all-objects --batch --buffer"
    code, output = cell.run(command)
    assert code == 0
    assert "def add" in output
    assert FUTURE not in output


def test_base_commit_does_not_identify_the_original(cell: Container) -> None:
    _, output = cell.run("git log --format='%H %an %ad %s'; cat .git/HEAD .git/config")
    assert cell.world.place.instance.base_commit not in output
    assert output.count("base") >= 1


def test_next_release_cannot_be_downloaded(cell: Container) -> None:
    code, output = cell.run("pip download --no-deps --timeout 1 --retries 0 calc==2", 60)
    assert code != 0, output
    assert "calc==2" in output


def test_no_address_is_reachable(cell: Container) -> None:
    for command in (
        "timeout 3 bash -c 'exec 3<>/dev/tcp/1.1.1.1/80'",
        "timeout 3 bash -c 'exec 3<>/dev/tcp/140.82.112.3/443'",
        "python -c \"import urllib.request as u; u.urlopen('http://93.184.216.34/', timeout=3)\"",
    ):
        assert cell.run(command)[0] != 0, command
    assert cell.run("ls /sys/class/net")[1].split() == ["lo"]


def test_no_host_name_is_resolved(cell: Container) -> None:
    command = "getent hosts github.com || python -c \"import socket; socket.gethostbyname('github.com')\""
    assert cell.run(command)[0] != 0


def test_hidden_tests_are_in_no_file(cell: Container) -> None:
    instance = cell.world.place.instance
    hidden = ["def test_sums", "1 + 3 = 4", *instance.fail_to_pass, instance.id, instance.base_commit]
    visible = "def test_mul"
    assert cell.words_in_files([visible, *hidden]) == {visible}


SHOWN = {
    "environment": "env; cat /proc/self/environ | tr '\\0' '\\n'",
    "processes": "cat /proc/1/environ /proc/*/environ /proc/*/cmdline 2>&1 | tr '\\0' '\\n'",
    "host name": "hostname; cat /etc/hostname /etc/hosts /etc/resolv.conf /proc/sys/kernel/hostname",
    "mounts": "cat /proc/mounts /proc/self/mountinfo /proc/1/mountinfo",
}


@pytest.mark.parametrize("what", SHOWN)
def test_nothing_identifies_the_instance_or_the_host(cell: Container, what: str) -> None:
    instance = cell.world.place.instance
    _, output = cell.run(SHOWN[what])
    assert output
    words = [instance.id, instance.base_commit, *instance.fail_to_pass, FUTURE, "assay.run", "assay.instance"]
    for each in (*words, *([str(Path.home() / "runs"), str(Path.cwd())] if what == "mounts" else [])):
        assert each not in output


def test_environment_of_the_first_process_cannot_be_read(cell: Container) -> None:
    assert cell.run("cat /proc/1/environ")[0] != 0


def test_installed_second_copy_of_the_project_is_rejected(world: World, tmp_path: Path) -> None:
    script = "cp -R /testbed/src/calc $(python -c 'import site; print(site.getsitepackages()[0])')/calc\n"
    copied = with_layer(world.engine, tmp_path, world.place.image, script)
    images = AgentImages(world.engine, tmp_path)
    with pytest.raises(EnvironmentFailure) as refused:
        images.image(copied, world.place.plan)
    assert "second copy of the project" in refused.value.tail


def test_leaking_image_is_rejected_at_the_start(world: World) -> None:
    where = ContainerSpec(world.engine, world.leaky, store="/tmp/store")
    with where.open() as workspace, pytest.raises(EnvironmentFailure, match="more than one commit"):
        check_start(workspace)


@pytest.mark.parametrize("path", ["/v1/embeddings", "/", "/v1/admin", "/v1/chat/completions/../../admin", "/metrics"])
def test_proxy_has_no_other_route(cell: Container, path: str) -> None:
    assert cell.ask("GET", path, token=cell.proxy.token)[0] == 403
    assert cell.ask("POST", path, "{}", token=cell.proxy.token)[0] == 403


def test_proxy_requires_its_token(cell: Container) -> None:
    body = '{"model": "tiny", "messages": [{"role": "user", "content": "hi"}]}'
    assert cell.ask("POST", "/v1/chat/completions", body)[0] == 401
    assert cell.ask("POST", "/v1/chat/completions", body, token="assay-guessed")[0] == 401
    assert cell.ask("POST", "/v1/chat/completions", body, token=cell.proxy.token)[0] == 200


def test_proxy_knows_no_other_model_and_no_key_of_the_host(cell: Container, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-host")
    body = '{"model": "huge", "messages": [{"role": "user", "content": "hi"}]}'
    status, output = cell.ask("POST", "/v1/chat/completions", body, token=cell.proxy.token)
    assert status == 404
    assert "sk-of-the-host" not in output


def test_socket_cannot_be_replaced(cell: Container) -> None:
    assert cell.run("touch /run/assay/x || rm /run/assay/model.sock || ln -s / /run/assay/y")[0] != 0
    assert (cell.scratch / "model.sock").exists()


class _Here(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(FUTURE.encode())

    def log_message(self, *_: object) -> None:
        return


def test_servers_of_the_host_are_not_reachable(cell: Container) -> None:
    with http.server.ThreadingHTTPServer(("0.0.0.0", 0), _Here) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        port = server.server_address[1]
        for host in ("127.0.0.1", "localhost", "172.17.0.1", "host.docker.internal", "10.0.2.2"):
            program = f"import urllib.request as u; print(u.urlopen('http://{host}:{port}/', timeout=3).read())"
            code, output = cell.run(f'python -c "{program}"')
            assert code != 0, host
            assert FUTURE not in output
        server.shutdown()


def test_no_container_engine_is_reachable(cell: Container) -> None:
    _, output = cell.run("find / -xdev -name '*.sock' -not -path '/run/assay/*' 2>/dev/null; ls /var/run/docker.sock")
    assert "docker.sock" not in output.replace("cannot access '/var/run/docker.sock'", "")
    assert cell.run("test -S /var/run/docker.sock || test -S /run/containerd/containerd.sock")[0] != 0


def test_cloud_metadata_service_is_not_reachable(cell: Container) -> None:
    assert cell.run("timeout 3 bash -c 'exec 3<>/dev/tcp/169.254.169.254/80'")[0] != 0


def test_user_cannot_become_root(cell: Container) -> None:
    assert cell.run("id -u")[1].strip() != "0"
    assert cell.run("su -c id root < /dev/null || sudo -n id")[0] != 0
    _, output = cell.run("grep -E 'CapEff|CapPrm|NoNewPrivs' /proc/self/status")
    assert output.split() == ["CapPrm:", "0" * 16, "CapEff:", "0" * 16, "NoNewPrivs:", "1"]


def test_devices_and_kernel_memory_are_inaccessible(cell: Container) -> None:
    for command in ("mount -t proc proc /mnt", "head -c 1 /proc/kcore", "ls /dev/sd* /dev/vd* /dev/nvme*", "dmesg"):
        assert cell.run(command)[0] != 0, command
