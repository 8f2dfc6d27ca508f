"""The contract of engines with containers, held by every one of them, or named by it as what it cannot hold."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager

import pytest

from assay.harness.domain import Instance, Limits
from assay.harness.engines import Engine, open_engine
from assay.harness.engines.base import Box, BoxEnd, BoxSpec, Piped
from assay.harness.engines.docker import DockerEngine
from assay.harness.engines.doctor import PROBES, Lab, State
from assay.harness.engines.fake import FakeEngine, image_name
from assay.harness.engines.owner import OWNER, dead_process
from assay.harness.errors import EngineError, ImageMissing, RunStopped
from container_engines import NAMES, container_engine
from saved_images import make_tar

LABELS = {"assay.run": "test-contract"}
ECHO = ["sh", "-c", "while read -r line; do [ $line != stop ] || exit; echo got $line; done"]


@pytest.fixture(scope="module", params=[pytest.param(name, marks=pytest.mark.docker) for name in NAMES])
def engine(request: pytest.FixtureRequest, docker_engine: DockerEngine, toolchain_image: str) -> Iterator[Engine]:
    with container_engine(request.param, docker_engine, toolchain_image) as opened:
        yield opened


@pytest.fixture
def box(engine: Engine, toolchain_image: str) -> Iterator[Box]:
    with engine.open(BoxSpec(toolchain_image, Limits(memory_mb=128, pids=64), LABELS)) as opened:
        yield opened


@pytest.fixture
def piped(box: Box) -> Piped:
    if box.piped is None:
        pytest.skip("this engine keeps no program running")
    return box.piped


@pytest.fixture(params=["fake", *(pytest.param(name, marks=pytest.mark.docker) for name in NAMES)])
def any_engine(request: pytest.FixtureRequest, instance: Instance) -> Iterator[Engine]:
    """Every engine, also the one that acts instances out."""
    if request.param == "fake":
        yield FakeEngine({image_name(instance): instance})
        return
    docker, image = (request.getfixturevalue(name) for name in ("docker_engine", "toolchain_image"))
    with container_engine(request.param, docker, image) as opened:
        yield opened


def require(engine: Engine, limit: str) -> None:
    if limit in engine.unenforced:
        pytest.skip(f"{engine.name} says that it cannot enforce the {limit}")


@pytest.mark.parametrize("limit", sorted(set(PROBES) - {"build network"}))
def test_limit_is_enforced_or_named_as_one_that_is_not(engine: Engine, toolchain_image: str, limit: str) -> None:
    if limit == "build limits" and not engine.builds_images:
        pytest.skip(f"{engine.name} builds no images")
    state, found = PROBES[limit](Lab(engine, toolchain_image, patience=120))
    too_busy = limit == "processor limit" and "too busy" in found
    beaten = limit == "clean removal" and "somebody else" in found  # a process beside this one reaps, too
    assert state is State.ENFORCED or limit in engine.unenforced or too_busy or beaten, found


def test_command_has_its_exit_status_output_user_folder_and_variables(box: Box) -> None:
    text = "echo $NAME; pwd; id -un; echo oops >&2; exit 7"
    run = box.exec(["sh", "-c", text], user="nobody", workdir="/tmp", env={"NAME": "ä"})
    assert run.exit_code == 7
    lines = run.output.decode().splitlines()
    assert [line for line in lines if line != "oops"] == ["ä", "/tmp", "nobody"]
    assert "oops" in lines, "standard error is in the output, wherever the engine puts it"
    assert not run.timed_out


def test_deadline_ends_a_command_that_ignores_signals(box: Box) -> None:
    run = box.exec(["sh", "-c", "trap '' TERM; echo before; while :; do sleep 1; done"], seconds=1)
    assert run.timed_out
    assert run.output == b"before\n"


def test_endless_output_is_cut_and_the_command_killed(box: Box) -> None:
    run = box.exec(["yes"], seconds=60, output_bytes=100_000)
    assert run.truncated
    assert not run.timed_out
    assert len(run.output) < 101_000


def test_memory_limit_kills_and_is_reported(engine: Engine, box: Box) -> None:
    require(engine, "memory limit")
    run = box.exec(["python3", "-c", "x = bytearray(400 * 1024 * 1024)"])
    assert run.exit_code == 137
    assert box.end() == BoxEnd(oom_killed=True)


def test_process_limit_holds_and_is_reported(engine: Engine, box: Box) -> None:
    require(engine, "process limit")
    program = (
        "import os\nn = 0\ntry:\n    while os.fork(): n += 1\n    os._exit(0)\nexcept OSError: print('stopped at', n)"
    )
    program = program.replace("os._exit(0)", "__import__('time').sleep(3); os._exit(0)")
    words = box.exec(["python3", "-c", program], seconds=20).output.decode().split()
    assert words[:2] == ["stopped", "at"]
    assert int(words[2]) < 64
    assert box.end().processes_limited


def test_files_go_in_and_only_regular_files_come_out(box: Box) -> None:
    box.put(make_tar({"one": b"1", "two": b"22"}), "/tmp")
    box.exec(["sh", "-c", "mkdir /tmp/d; mv /tmp/one /tmp/d; ln -s /etc/passwd /tmp/d/link; mkfifo /tmp/d/pipe"])
    assert box.get("/tmp/d", 1000) == {"one": b"1"}
    assert box.get("/tmp/two", 1000) == {"two": b"22"}
    assert box.get("/tmp/none", 1000) == {}


def test_file_over_the_limit_does_not_come_out(box: Box) -> None:
    box.exec(["sh", "-c", "mkdir /tmp/d; head -c 3000000 /dev/zero > /tmp/d/big; echo 1 > /tmp/d/a"])
    assert "big" not in box.get("/tmp/d", 1000)


def test_files_of_a_killed_box_can_still_be_read(box: Box) -> None:
    box.exec(["sh", "-c", "echo kept > /tmp/report; sleep 60"], seconds=0.5)
    assert box.get("/tmp/report", 1000) == {"report": b"kept\n"}


def test_deadline_ends_what_the_command_left_behind(box: Box) -> None:
    run = box.exec(["sh", "-c", "setsid sh -c 'sleep 3; echo late > /tmp/late' & sleep 60"], seconds=1)
    assert run.timed_out
    time.sleep(3.5)
    assert box.get("/tmp/late", 100) == {}


def test_exit_status_of_a_signal_is_a_shell_s(box: Box) -> None:
    assert box.exec(["sh", "-c", "kill -KILL $$"]).exit_code == 137
    assert box.exec(["sh", "-c", "exit 255"]).exit_code == 255


def test_commands_see_no_variables_of_this_machine(
    engine: Engine, toolchain_image: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SECRET", "APPTAINERENV_SECRET", "SINGULARITYENV_SECRET"):
        monkeypatch.setenv(name, "leaked")
    with engine.open(BoxSpec(toolchain_image, labels=LABELS)) as box:
        assert b"leaked" not in box.exec(["env"]).output


def test_mounted_folder_can_be_read_and_not_written(
    engine: Engine, toolchain_image: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("mounted")
    (folder / "one").write_text("1\n")
    folder.chmod(0o755)
    with engine.open(BoxSpec(toolchain_image, labels=LABELS, mounts={str(folder): "/mnt"})) as box:
        assert box.exec(["cat", "/mnt/one"]).output == b"1\n"
        assert box.exec(["touch", "/mnt/two"]).exit_code == 1


def test_root_cannot_write_the_machine_s_settings(box: Box) -> None:
    for path in ("/proc/sys/kernel/hostname", "/proc/sys/vm/swappiness", "/sys/kernel/mm/ksm/run"):
        assert box.exec(["sh", "-c", f"echo 1 > {path}"]).exit_code != 0, path


def test_archive_is_there_when_the_box_opens(engine: Engine, toolchain_image: str) -> None:
    with engine.open(BoxSpec(toolchain_image, labels=LABELS, archive=make_tar({"opt/one": b"1\n"}))) as box:
        assert box.exec(["cat", "/opt/one"], user="nobody").output == b"1\n"


def test_box_without_network_looks_up_its_own_name(box: Box) -> None:
    program = "import socket; own = socket.gethostname(); print(socket.gethostbyname(own), socket.getfqdn() == own)"
    assert box.exec(["python3", "-c", program]).output == b"127.0.1.1 True\n"


def test_box_without_network_looks_up_localhost_and_no_other_name(box: Box) -> None:
    program = "import socket; print(socket.gethostbyname('localhost'))"
    assert box.exec(["python3", "-c", program]).output == b"127.0.0.1\n"
    assert box.exec(["getent", "hosts", "example.org"]).exit_code == 2
    assert box.exec(["touch", "/etc/hosts"], user="nobody").exit_code == 1


def test_boxes_at_once_are_strangers(engine: Engine, toolchain_image: str) -> None:
    meet = threading.Barrier(3, timeout=120)

    def use(number: int) -> tuple[bytes, bytes]:
        with engine.open(BoxSpec(toolchain_image, labels=LABELS)) as box:
            box.exec(["sh", "-c", f"echo {number} > /tmp/mine; sleep 600 &"])
            meet.wait()
            seen = box.exec(["sh", "-c", "cat /tmp/mine"]).output
            if number == 0:
                box.end()
            meet.wait()
            return seen, b"" if number == 0 else box.exec(["cat", "/tmp/mine"]).output

    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(use, range(3)))
    assert found == [(b"0\n", b""), (b"1\n", b"1\n"), (b"2\n", b"2\n")]


def test_box_is_removed_in_every_case(engine: Engine, toolchain_image: str) -> None:
    dead = {**LABELS, OWNER: dead_process()}
    before, seen = set(engine.orphans()), set[str]()
    with pytest.raises((ZeroDivisionError, EngineError)):
        _fail_in_box(engine, BoxSpec(toolchain_image, labels=dead), seen)
    opened = seen - before  # one of another test may be among them, and another test may have removed this one
    assert not opened or opened - set(engine.orphans())


def _fail_in_box(engine: Engine, spec: BoxSpec, seen: set[str]) -> None:
    with engine.open(spec):
        seen.update(engine.orphans())
        raise ZeroDivisionError


def test_reap_removes_the_box_of_a_dead_owner_and_no_living_one(engine: Engine, toolchain_image: str) -> None:
    dead = engine.open(BoxSpec(toolchain_image, labels={**LABELS, OWNER: dead_process()}))
    with engine.open(BoxSpec(toolchain_image, labels=LABELS)) as living:
        with pytest.raises(EngineError):
            _reap_beneath(engine, dead)
        assert living.exec(["true"]).exit_code == 0
        assert living.end() == BoxEnd()


def _reap_beneath(engine: Engine, opened: AbstractContextManager[Box]) -> None:
    with opened as box:
        engine.reap()
        _use(box)


def test_end_kills_everything_and_files_stay(box: Box) -> None:
    box.exec(["sh", "-c", "echo kept > /tmp/report; sleep 600 &"])
    assert box.end() == BoxEnd()
    assert box.get("/tmp/report", 1000) == {"report": b"kept\n"}
    with pytest.raises(EngineError):
        _use(box)


def test_abort_ends_open_boxes_and_opens_no_more(engine: Engine, toolchain_image: str) -> None:
    own = DockerEngine(engine._client) if isinstance(engine, DockerEngine) else open_engine(engine.name)
    with own.open(BoxSpec(toolchain_image, labels=LABELS)) as box:
        threading.Timer(0.3, own.abort).start()
        began = time.monotonic()
        run = box.exec(["sleep", "600"], seconds=600)
        assert time.monotonic() - began < 60
        assert (run.exit_code, run.timed_out) == (137, False)
    with pytest.raises(RunStopped), own.open(BoxSpec(toolchain_image, labels=LABELS)):
        pass


def test_missing_image_is_none_or_an_error(any_engine: Engine) -> None:
    assert any_engine.find_image("assay/none:1") is None
    with pytest.raises(ImageMissing), any_engine.open(BoxSpec("assay/none:1", labels=LABELS)):
        pass


def test_pipe_answers_each_request_until_the_program_ends(piped: Piped) -> None:
    pipe = piped.pipe(ECHO)
    assert pipe.exchange(b"one\n", b"\n", 10) == b"got one"
    assert pipe.exchange(b"two\nthree\n", b"three\n", 10) == b"got two\ngot "
    assert pipe.exchange(b"stop\n", b"\n", 10) is None
    pipe.close()


def test_closing_a_pipe_ends_the_program_s_input(box: Box, piped: Piped) -> None:
    pipe = piped.pipe(["sh", "-c", "cat; echo over > /tmp/over"])
    assert pipe.exchange(b"x\n", b"\n", 10) == b"x"
    pipe.close()
    deadline = time.monotonic() + 60
    while not box.get("/tmp/over", 100) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert box.get("/tmp/over", 100) == {"over": b"over\n"}


def test_pipe_runs_with_the_user_folder_and_variables(piped: Piped) -> None:
    pipe = piped.pipe(
        ["sh", "-c", 'read -r x; id -u; pwd; echo "$A"; echo end'], user="1234", workdir="/tmp", env={"A": "b c"}
    )
    assert pipe.exchange(b"go\n", b"end\n", 10) == b"1234\n/tmp\nb c\n"
    pipe.close()


def test_pipe_past_its_deadline_kills_the_box(box: Box, piped: Piped) -> None:
    pipe = piped.pipe(["sleep", "600"])
    began = time.monotonic()
    assert pipe.exchange(b"go\n", b"end", 0.5) is None
    assert time.monotonic() - began < 60
    pipe.close()
    with pytest.raises(EngineError):
        _use(box)


def _use(box: Box) -> None:
    """Run commands for a while: an engine may take a moment to know that a container is dead."""
    for _ in range(50):
        box.exec(["sleep", "0.1"])
