import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from assay.harness.engines import docker_build
from assay.harness.engines.docker_build import build, find_builder, strip_mounts
from assay.harness.errors import EngineError, EnvironmentFailure
from assay.instances.environments.build_context import name_caches
from assay.instances.toolchains.host import write_secrets

NAME = f"assay-test/docker-build:{os.getpid()}"
BASE = f"assay-test/base:{os.getpid()}"
PASSWORD = "correct-horse-battery"
DOCKERFILE = """\
# assay: network=none
FROM @BASE@ AS work
RUN --mount=type=bind,target=/build --mount=type=secret,id=settings --mount=type=cache,target=/c sh /build/size.sh
RUN --mount=type=bind,target=/build cat /build/greeting > /greeting
RUN cat /proc/net/dev > /net
FROM @BASE@
COPY --from=work /size /net /greeting /
"""


def docker(*args: str) -> str:
    return subprocess.run(["docker", *args], capture_output=True, text=True, check=True).stdout


def made_from(base: str) -> set[str]:
    """The images, also untagged ones, whose lowest layer is that of another."""
    images = docker("images", "--all", "--quiet", "--no-trunc").split()
    layers = "{{.Id}}{{range .RootFS.Layers}} {{.}}{{end}}"
    command = ["docker", "inspect", "--format", layers, base, *images]  # of those that are still there
    shown = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    (_, lowest, *_), *others = (line.split() for line in shown.splitlines())
    return {image for image, *layers in others if layers[:1] == [lowest]}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory):
    """An image made from a few of the host's own programs, so that no registry is asked."""
    root = tmp_path_factory.mktemp("root")
    programs = ("/bin/sh", "/bin/cat", "/bin/grep", "/usr/bin/wc", "/bin/sleep", "/usr/bin/nice", "/usr/bin/mkfifo")
    libraries = set()
    for program in programs:
        out = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        libraries |= {word for word in out.split() if word.startswith("/")}
    for path in (*programs, *libraries):
        target = root / ("bin/" + Path(path).name if path in programs else path.lstrip("/"))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(Path(path).read_bytes())
        target.chmod(0o755)
    (root / "of-this-session").write_text(str(os.getpid()))
    tar = subprocess.run(["tar", "-C", str(root), "-c", "."], capture_output=True, check=True).stdout
    subprocess.run(["docker", "import", "-", BASE], input=tar, capture_output=True, check=True)
    yield BASE
    docker("rmi", "-f", BASE)


@pytest.fixture
def context(tmp_path: Path, base: str) -> Path:
    folder = tmp_path / "context"
    folder.mkdir()
    (folder / "Dockerfile").write_text(DOCKERFILE.replace("@BASE@", base))
    (folder / "greeting").write_text("hello\n")
    (folder / "size.sh").write_text("wc -c < /run/secrets/settings > /size\n")
    return folder


@pytest.fixture(params=["buildkit", "plain"])
def builder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ASSAY_BUILDER", request.param)
    find_builder.cache_clear()
    try:
        find_builder()
    except EnvironmentFailure as error:
        pytest.skip(str(error))
    yield request.param
    find_builder.cache_clear()
    subprocess.run(["docker", "rmi", "-f", NAME], capture_output=True, check=False)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "settings"
    path.write_text(PASSWORD)
    return path


@pytest.mark.docker
def test_build_sees_its_secret_and_no_layer_keeps_it(builder, context: Path, secret: Path, tmp_path: Path):
    before = made_from(BASE)
    log = tmp_path / "log"

    build(NAME, context, log, secrets={"settings": secret}, labels={"assay.kind": "test"})

    assert docker("run", "--rm", "--network=none", NAME, "/bin/cat", "/size", "/greeting").split() == ["21", "hello"]
    assert docker("inspect", "--format", '{{index .Config.Labels "assay.kind"}}', NAME).strip() == "test"
    assert PASSWORD not in docker("history", "--no-trunc", NAME)
    exported = subprocess.run(["docker", "save", NAME], capture_output=True, check=True).stdout
    assert PASSWORD.encode() not in exported
    assert b"run/secrets" not in exported
    # Nor does any untagged image that the build left behind: the stage with the secret is gone.
    for image in made_from(BASE) - before:
        saved = subprocess.run(["docker", "save", image], capture_output=True, check=True).stdout
        assert PASSWORD.encode() not in saved
    assert secret.read_text() == PASSWORD
    assert "--mount" in (context / "Dockerfile").read_text()


@pytest.mark.docker
def test_build_without_network_has_only_loopback(builder, context: Path, secret: Path, tmp_path: Path):
    build(NAME, context, tmp_path / "log", secrets={"settings": secret}, labels={})

    interfaces = [
        line.split(":")[0].strip() for line in docker("run", "--rm", NAME, "/bin/cat", "/net").splitlines()[2:]
    ]
    assert "lo" in interfaces
    assert not any(name.startswith("eth") for name in interfaces)


@pytest.mark.docker
def test_failed_build_names_its_log_and_quotes_its_end(builder, context: Path, tmp_path: Path, base: str):
    (context / "Dockerfile").write_text(f"FROM {base}\nRUN echo the-last-words && exit 7\n")

    with pytest.raises(EnvironmentFailure, match=f"{NAME} could not be built") as caught:
        build(NAME, context, tmp_path / "log", secrets={}, labels={})

    assert caught.value.log_path == str(tmp_path / "log")
    assert "the-last-words" in caught.value.tail


def test_unknown_builder_is_an_error_that_lists_the_known(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ASSAY_BUILDER", "kaniko")
    find_builder.cache_clear()
    with pytest.raises(EnvironmentFailure, match="buildx, buildkit, plain"):
        docker_build.find_builder()
    find_builder.cache_clear()


def test_plain_dockerfile_copies_secrets_only_into_stages_that_mount_them():
    lines = [
        "FROM a AS one",
        "RUN x",
        "FROM a AS two",
        "RUN --mount=type=bind,target=/build --mount=type=secret,id=s --mount=type=cache,target=/c y",
        "RUN --mount=type=bind,target=/build z",
        "FROM a",
        "COPY --from=two /y /y",
    ]

    assert strip_mounts("\n".join(lines), "m").splitlines() == [
        "FROM a AS one",
        "RUN x",
        "FROM a AS two",
        "LABEL assay.stage=m",
        "COPY .assay-secrets/ /run/secrets/",
        "COPY . /build/",
        "RUN y",
        "RUN z",
        "FROM a",
        "COPY --from=two /y /y",
    ]


def test_plain_dockerfile_with_a_secret_in_its_last_stage_is_an_error():
    with pytest.raises(EnvironmentFailure, match="last stage"):
        strip_mounts("FROM a\nRUN --mount=type=secret,id=s y\n", "m")


def test_builder_that_does_not_answer_is_an_engine_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program = tmp_path / "docker"
    program.write_text("#!/bin/sh\nexec sleep 5\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(docker_build, "PATIENCE", 0.2)
    monkeypatch.delenv("ASSAY_BUILDER", raising=False)
    docker_build.find_builder.cache_clear()
    with pytest.raises(EngineError, match="did not answer"):
        docker_build.find_builder()


def test_log_and_error_of_a_build_that_prints_a_password_have_a_mask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program, log = tmp_path / "docker", tmp_path / "log"
    program.write_text('#!/bin/sh\nfor word; do case $word in id=*) cat "${word#*src=}"; esac; done; exit 1\n')
    program.chmod(0o755)
    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    monkeypatch.setattr(docker_build, "find_builder", lambda: docker_build.Builder("buildkit", str(program)))
    secrets = write_secrets(tmp_path, {"UV_INDEX": "https://ada:planted-in-a-build@idx.test/simple"})
    with pytest.raises(EnvironmentFailure) as caught:
        build(NAME, tmp_path, log, secrets=secrets, labels={})
    assert "export UV_INDEX=https://ada:***@idx.test/simple" in log.read_text()
    assert "planted-in" not in log.read_text() + str(caught.value) + caught.value.tail + caught.value.cause


def test_interrupted_build_ends_its_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program, started, ended = (tmp_path / name for name in ("docker", "started", "ended"))
    program.write_text(f"#!/bin/sh\ntrap 'echo > {ended}; exit 1' TERM\necho > {started}\nsleep 20 & wait\n")
    program.chmod(0o755)
    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    monkeypatch.setattr(docker_build, "find_builder", lambda: docker_build.Builder("buildkit", str(program)))
    main = threading.main_thread().ident
    assert main is not None

    def interrupt() -> None:
        while not (started.exists() and any(str(program) in str(run.args) for run in tuple(docker_build._running))):
            time.sleep(0.05)
        signal.pthread_kill(main, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # an earlier test may have left its own
    threading.Thread(target=interrupt, daemon=True).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            build(NAME, tmp_path, tmp_path / "log", secrets={}, labels={})
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended.exists()


@pytest.mark.docker
def test_what_a_build_leaves_in_its_caches_is_seen_by_builds_of_the_same_owner_alone(base: str, tmp_path: Path) -> None:
    if find_builder().kind == "plain":
        pytest.skip("the plain builder keeps no caches")

    def build_for(owner: str, number: int) -> str:
        folder = tmp_path / str(number) / "context"
        folder.mkdir(parents=True)
        step = (
            f"cat /c/seen > /seen || echo nothing > /seen; echo left by {owner} {os.getpid()} > /c/seen; echo {number}"
        )
        text = f"FROM {base} AS work\nRUN --mount=type=cache,target=/c {step}\nFROM {base}\nCOPY --from=work /seen /\n"
        (folder / "Dockerfile").write_text(name_caches(text, f"{owner} {os.getpid()}"))
        build(NAME, folder, tmp_path / "log", secrets={}, labels={})
        return docker("run", "--rm", NAME, "cat", "/seen").strip()

    seen = [build_for(owner, number) for number, owner in enumerate(("acme/a", "acme/a", "acme/b"))]
    assert seen == ["nothing", f"left by acme/a {os.getpid()}", "nothing"]
