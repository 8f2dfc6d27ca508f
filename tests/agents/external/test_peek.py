"""What an agent could try to find the answer: every way fails in its container.

Where the project's image is made to leak on purpose, the same try is shown to succeed there first.
"""

import http.server
import shlex
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from assay.agents.llm.proxy.server import Proxy
from assay.agents.llm.scripted import Scripted
from assay.agents.sampling.habitat import agent_place
from assay.agents.sampling.image import AgentImages, check_start
from assay.agents.sampling.workspaces.box import BoxWorkspace, Place
from assay.harness.engines.base import Box
from assay.harness.errors import EnvironmentFailure
from leaky import FUTURE, World, with_layer

pytestmark = pytest.mark.docker


@dataclass(frozen=True)
class Cell:
    """An agent's container with the proxy's socket in it, and the image that leaks."""

    workspace: BoxWorkspace
    world: World
    proxy: Proxy
    scratch: Path
    leaky: Box

    def run(self, command: str, seconds: float = 20.0) -> tuple[int | None, str]:
        done = self.workspace.exec(command, seconds=seconds)
        return done.exit_code, done.output

    def holds(self, words: str) -> bool:
        """Tell whether any file holds these words; they come from the input, or the search would find itself."""
        search = "cat > /dev/shm/w; grep -rlsIF --exclude-dir={proc,sys,dev} -f /dev/shm/w /"
        return bool(self.workspace.exec(search, stdin=words.encode(), seconds=120).output)

    def finds(self, command: str) -> bool:
        """Tell whether a try brings the future to light here."""
        return FUTURE in self.run(command)[1]

    def leaks(self, command: str) -> bool:
        """Tell whether the same try does in the image that leaks."""
        return FUTURE.encode() in self.leaky.exec(["bash", "-c", command], user="assay", workdir="/testbed").output

    def ask(self, method: str, path: str, body: str = "", token: str = "") -> tuple[int, str]:
        """Ask the proxy over its socket; return status and reply."""
        program = (
            "import http.client, socket, sys\n"
            "line = http.client.HTTPConnection('localhost')\n"
            "line.sock = socket.socket(socket.AF_UNIX)\n"
            "line.sock.connect('/run/assay/model.sock')\n"
            "method, path, body, token = sys.argv[1:]\n"
            "line.request(method, path, body.encode() or None, {'Authorization': 'Bearer ' + token})\n"
            "reply = line.getresponse()\n"
            "print(reply.status, reply.read().decode())\n"
        )
        code, told = self.run(shlex.join(["python", "-c", program, method, path, body, token]))
        assert code == 0, told
        status, _, text = told.partition(" ")
        return int(status), text


@pytest.fixture(scope="module")
def cell(world: World) -> Iterator[Cell]:
    with TemporaryDirectory(prefix="a-") as name:
        scratch = Path(name)
        scratch.chmod(0o755)
        model = Scripted(lambda _request: "hello")
        labels = {"assay.instance": world.place.instance.id}
        with Proxy(model, ["tiny"], unix_socket=scratch / "model.sock") as proxy:
            where = agent_place(world.engine, world.image, world.place.plan, labels, {name: "/run/assay"})
            leaky = world.engine.open(world.leaky, world.place.plan.limits, {})
            with where.open() as workspace, leaky as box:
                check_start(workspace)
                yield Cell(workspace, world, proxy, scratch, box)


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
def test_the_future_is_nowhere(cell: Cell, what: str) -> None:
    command = HISTORY[what]
    assert cell.leaks(command), "the try itself does not work"
    assert not cell.finds(command), cell.run(command)[1]


def test_no_alternates_are_left(cell: Cell) -> None:
    show = f"test ! -e .git/objects/info/alternates || echo {FUTURE}"
    assert cell.leaks(show)
    assert not cell.finds(show)


def test_the_harness_own_repository_holds_the_base_alone(cell: Cell) -> None:
    command = "git --git-dir=/var/lib/assay/store cat-file --batch-all-objects --batch --buffer"
    code, told = cell.run(command)
    assert code == 0
    assert "def add" in told
    assert FUTURE not in told


def test_the_one_commit_tells_nothing_of_the_original(cell: Cell) -> None:
    _, told = cell.run("git log --format='%H %an %ad %s'; cat .git/HEAD .git/config")
    assert cell.world.place.instance.base_commit not in told
    assert told.count("base") >= 1


def test_no_next_release_can_be_fetched(cell: Cell) -> None:
    code, told = cell.run("pip download --no-deps --timeout 1 --retries 0 calc==2", 60)
    assert code != 0, told
    assert "calc==2" in told


def test_no_address_answers(cell: Cell) -> None:
    for command in (
        "timeout 3 bash -c 'exec 3<>/dev/tcp/1.1.1.1/80'",
        "timeout 3 bash -c 'exec 3<>/dev/tcp/140.82.112.3/443'",
        "python -c \"import urllib.request as u; u.urlopen('http://93.184.216.34/', timeout=3)\"",
    ):
        assert cell.run(command)[0] != 0, command
    assert cell.run("ls /sys/class/net")[1].split() == ["lo"]


def test_no_name_is_resolved(cell: Cell) -> None:
    command = "getent hosts github.com || python -c \"import socket; socket.gethostbyname('github.com')\""
    assert cell.run(command)[0] != 0


def test_hidden_tests_are_in_no_file(cell: Cell) -> None:
    instance = cell.world.place.instance
    wanted = ["def test_sums", "1 + 3 = 4", *instance.fail_to_pass, instance.id, instance.base_commit]
    assert cell.holds("def test_mul"), "the try itself does not work"
    for words in wanted:
        assert not cell.holds(words)


def test_the_environment_tells_nothing(cell: Cell) -> None:
    _, told = cell.run("env; cat /proc/self/environ | tr '\\0' '\\n'")
    _tells_nothing(cell, told)


def test_the_first_process_tells_nothing(cell: Cell) -> None:
    _, told = cell.run("cat /proc/1/environ /proc/*/environ /proc/*/cmdline 2>&1 | tr '\\0' '\\n'")
    _tells_nothing(cell, told)
    assert cell.run("cat /proc/1/environ")[0] != 0


def test_host_name_and_labels_tell_nothing(cell: Cell) -> None:
    _, told = cell.run("hostname; cat /etc/hostname /etc/hosts /etc/resolv.conf /proc/sys/kernel/hostname")
    _tells_nothing(cell, told)


def test_mounts_tell_no_path_of_the_host_but_that_of_the_socket(cell: Cell) -> None:
    _, told = cell.run("cat /proc/mounts /proc/self/mountinfo /proc/1/mountinfo")
    _tells_nothing(cell, told)
    assert str(Path.home() / "runs") not in told
    assert str(Path.cwd()) not in told


def _tells_nothing(cell: Cell, told: str) -> None:
    instance = cell.world.place.instance
    assert told
    for words in (instance.id, instance.base_commit, *instance.fail_to_pass, FUTURE, "assay.run", "assay.instance"):
        assert words not in told


def test_a_copy_of_the_project_among_the_packages_is_refused(world: World, tmp_path: Path) -> None:
    script = "cp -R /testbed/src/calc $(python -c 'import site; print(site.getsitepackages()[0])')/calc\n"
    copied = with_layer(world.engine, tmp_path, world.place.image, script)
    images = AgentImages(world.engine, tmp_path)
    with pytest.raises(EnvironmentFailure) as refused:
        images.image(copied, world.place.plan)
    assert "second copy of the project" in refused.value.tail


def test_an_image_that_leaks_is_noticed_at_the_start_too(world: World) -> None:
    where = Place(world.engine, world.leaky, store="/tmp/store")
    with where.open() as workspace, pytest.raises(EnvironmentFailure, match="more than one commit"):
        check_start(workspace)


@pytest.mark.parametrize("path", ["/v1/embeddings", "/", "/v1/admin", "/v1/chat/completions/../../admin", "/metrics"])
def test_the_proxy_has_no_other_route(cell: Cell, path: str) -> None:
    assert cell.ask("GET", path, token=cell.proxy.token)[0] == 403
    assert cell.ask("POST", path, "{}", token=cell.proxy.token)[0] == 403


def test_the_proxy_wants_its_token(cell: Cell) -> None:
    body = '{"model": "tiny", "messages": [{"role": "user", "content": "hi"}]}'
    assert cell.ask("POST", "/v1/chat/completions", body)[0] == 401
    assert cell.ask("POST", "/v1/chat/completions", body, token="assay-guessed")[0] == 401
    assert cell.ask("POST", "/v1/chat/completions", body, token=cell.proxy.token)[0] == 200


def test_the_proxy_knows_no_other_model_and_no_key(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-host")
    body = '{"model": "huge", "messages": [{"role": "user", "content": "hi"}]}'
    status, told = cell.ask("POST", "/v1/chat/completions", body, token=cell.proxy.token)
    assert status == 404
    assert "sk-of-the-host" not in told


def test_the_socket_cannot_be_replaced(cell: Cell) -> None:
    assert cell.run("touch /run/assay/x || rm /run/assay/model.sock || ln -s / /run/assay/y")[0] != 0
    assert (cell.scratch / "model.sock").exists()


class _Here(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(FUTURE.encode())

    def log_message(self, *_: object) -> None:
        return


def test_the_loopback_of_the_host_is_not_the_container_s(cell: Cell) -> None:
    with http.server.ThreadingHTTPServer(("0.0.0.0", 0), _Here) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        port = server.server_address[1]
        for host in ("127.0.0.1", "localhost", "172.17.0.1", "host.docker.internal", "10.0.2.2"):
            program = f"import urllib.request as u; print(u.urlopen('http://{host}:{port}/', timeout=3).read())"
            code, told = cell.run(f'python -c "{program}"')
            assert code != 0, host
            assert FUTURE not in told
        server.shutdown()


def test_no_engine_answers(cell: Cell) -> None:
    _, told = cell.run("find / -xdev -name '*.sock' -not -path '/run/assay/*' 2>/dev/null; ls /var/run/docker.sock")
    assert "docker.sock" not in told.replace("cannot access '/var/run/docker.sock'", "")
    assert cell.run("test -S /var/run/docker.sock || test -S /run/containerd/containerd.sock")[0] != 0


def test_the_metadata_service_does_not_answer(cell: Cell) -> None:
    assert cell.run("timeout 3 bash -c 'exec 3<>/dev/tcp/169.254.169.254/80'")[0] != 0


def test_nobody_becomes_root(cell: Cell) -> None:
    assert cell.run("id -u")[1].strip() != "0"
    assert cell.run("su -c id root < /dev/null || sudo -n id")[0] != 0
    _, told = cell.run("grep -E 'CapEff|CapPrm|NoNewPrivs' /proc/self/status")
    assert told.split() == ["CapPrm:", "0" * 16, "CapEff:", "0" * 16, "NoNewPrivs:", "1"]


def test_devices_and_the_kernel_s_memory_are_closed(cell: Cell) -> None:
    for command in ("mount -t proc proc /mnt", "head -c 1 /proc/kcore", "ls /dev/sd* /dev/vd* /dev/nvme*", "dmesg"):
        assert cell.run(command)[0] != 0, command
