"""The engine without Docker: how it calls its program, what it refuses, and what it says it cannot enforce.

The contract is run by the real program in ``test_contract.py``; here a script stands in for it and notes its arguments.
"""

import json
import os
import sys
from pathlib import Path

import pytest

from assay.harness.domain import Card, Limits, Service
from assay.harness.engines import apptainer, apptainer_program
from assay.harness.engines.apptainer import ApptainerEngine
from assay.harness.engines.apptainer_box import measure_folder
from assay.harness.engines.apptainer_program import ApptainerProgram, find_program
from assay.harness.engines.base import BoxSpec, Sidecar
from assay.harness.engines.cards import HostCard
from assay.harness.engines.owner import OWNER, dead_process
from assay.harness.errors import EngineError, EngineUnavailable
from saved_images import Saved, layer, saved_by_new_engine

IMAGE = Saved("acme/tests:1", (layer(one="1"),))
STAND_IN = """#!PYTHON
import json, os, signal, subprocess, sys
from pathlib import Path
words, here = sys.argv[2:], Path("HERE")
with (here / "calls").open("a") as calls:
    calls.write(json.dumps(words) + "\\n")
match words[:2]:
    case ["build", *_]:
        Path(words[-2]).write_text("image")
    case ["instance", "start"]:
        sleeping = subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        (here / words[-1]).write_text(str(sleeping.pid))
    case ["instance", "list"]:
        print(json.dumps({"instances": [{"instance": words[-1], "pid": int((here / words[-1]).read_text())}]}))
    case ["exec", *_] if "printf" in str(words):
        print(words[words.index("sh") + 1] if "sh" in words else "")
        print("printed")
"""
DATABASE = Sidecar(Service(name="db", command="x", port=1), "image")
BOX = ["--cleanenv", "--no-privs", "--add-caps"]


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "apptainer"
    path.write_text(STAND_IN.replace("PYTHON", sys.executable).replace("HERE", str(tmp_path)))
    path.chmod(0o755)
    return str(path)


def calls(tmp_path: Path) -> list[list[str]]:
    return [json.loads(line) for line in (tmp_path / "calls").read_text().splitlines()]


def made(program: str, tmp_path: Path, as_root: tuple[str, ...] = ()) -> ApptainerEngine:
    engine = ApptainerEngine(ApptainerProgram(program, as_root), tmp_path / "store", tmp_path / "boxes")
    engine.load(saved_by_new_engine([IMAGE]))
    return engine


def test_box_is_an_instance_that_shares_nothing_and_is_limited(program: str, tmp_path: Path) -> None:
    limits = Limits(memory_mb=64, cpus=0.5, pids=32, disk_mb=16, capabilities=("SYS_ADMIN",))
    with made(program, tmp_path).open(BoxSpec(IMAGE.name, limits, mounts={"/data": "/mnt"})) as box:
        run = box.exec(["true"], user="nobody", workdir="/tmp", env={"A": "b"})
    assert (run.exit_code, run.output) == (0, b"printed\n")
    _, start, listed, protect, put, execute, stop = calls(tmp_path)
    name, sif = start[-1], start[-2]
    overlay = tmp_path / "boxes" / name / "overlay"
    assert start == [
        *("instance", "start", "--contain", "--cleanenv", "--no-home", "--no-mount", "tmp,home,cwd,hostfs,bind-paths"),
        *("--net", "--network", "none", "--dns", "127.0.0.1", "--ipc", "--uts"),
        *("--no-privs", "--add-caps", "CAP_KILL,CAP_SETGID,CAP_SETUID"),
        *("--memory", "64M", "--memory-swap", "64M", "--cpus", "0.5", "--pids-limit", "32"),
        *("--bind", "/data:/mnt:ro", "--overlay", str(overlay), sif, name),
    ]
    assert sif == f"{tmp_path}/store/made/{IMAGE.digest.removeprefix('sha256:')}.sif"
    assert listed == ["instance", "list", "--json", name]
    assert protect[:5] == ["exec", *BOX, "CAP_SYS_ADMIN"]
    assert put[-7:] == ["tar", "-x", "-p", "--same-owner", "--numeric-owner", "-C", "/"]
    assert execute[:6] == ["exec", *BOX, "CAP_KILL,CAP_SETGID,CAP_SETUID,CAP_SYS_ADMIN", f"instance://{name}"]
    assert execute[-5:] == ["nobody", "/tmp", "65536", "", "true"]
    assert "A=b" in execute
    assert stop == ["instance", "stop", "--signal", "KILL", name]
    assert not list((tmp_path / "boxes").iterdir())


def test_cards_come_by_its_option_and_variables_say_which(program: str, tmp_path: Path) -> None:
    engine = made(program, tmp_path)
    cards = [HostCard(Card(name=name), is_nvidia=True) for name in ("GPU-1", "MIG-2")]
    assert engine.choose_card_way(cards[0]) == "apptainer --nv"
    assert not engine.separates_cards
    with engine.open(BoxSpec(IMAGE.name, cards=cards)) as box:
        box.exec(["true"])
    _, start, *_, execute, _ = calls(tmp_path)
    assert start[-3] == "--nv"
    assert "CUDA_VISIBLE_DEVICES=GPU-1,MIG-2" in execute
    assert "LD_LIBRARY_PATH=/.singularity.d/libs" in execute
    with pytest.raises(EngineError, match="apptainer gives NVIDIA's cards alone, by --nv; use Docker or podman"):
        engine.choose_card_way(HostCard(Card(name="acme.test/gpu=0")))


def test_libraries_of_an_image_come_before_the_drivers() -> None:
    cards = [HostCard(Card(name="GPU-1"), is_nvidia=True)]
    assert apptainer.make_card_variables(cards, ["LD_LIBRARY_PATH=/opt/lib"])[1:] == [
        "LD_LIBRARY_PATH=/opt/lib:/.singularity.d/libs"
    ]
    assert apptainer.make_card_variables([], ["LD_LIBRARY_PATH=/opt/lib"]) == []


def test_engine_without_root_is_root_in_its_boxes_and_sets_only_limits_that_hold(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apptainer, "CGROUPS", tmp_path / "cgroup")
    engine = made(program, tmp_path, ("--fakeroot",))
    assert engine.unenforced == {"disk limit", "memory limit", "process limit", "processor limit"}
    with engine.open(BoxSpec(IMAGE.name)) as box:
        box.exec(["true"])
    build, start, *_, execute, _, _ = calls(tmp_path)
    assert execute[-2:] == ["--bounding-set=-all,+kill,+setgid,+setuid", "true"]
    assert build[:2] == ["build", "--fakeroot"]
    assert start[:3] == ["instance", "start", "--fakeroot"]
    assert not {"--memory", "--cpus", "--pids-limit"} & {*start}


def test_limits_that_systemd_gives_to_a_user_are_enforced(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = os.geteuid()
    given = tmp_path / f"cgroup/user.slice/user-{user}.slice/user@{user}.service/cgroup.controllers"
    given.parent.mkdir(parents=True)
    given.write_text("memory pids\n")
    monkeypatch.setattr(apptainer, "CGROUPS", tmp_path / "cgroup")
    for name in ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"):
        monkeypatch.setenv(name, "/run")
    assert made(program, tmp_path, ("--fakeroot",)).unenforced == {"disk limit", "processor limit"}
    assert made(program, tmp_path).unenforced == frozenset()


@pytest.mark.parametrize(
    ("limits", "services", "refused"),
    [
        (Limits(network=True), (), "no network"),
        (Limits(), (Sidecar(Service(name="db", command="x", port=1), "i"),), "no services"),
    ],
)
def test_box_with_a_network_or_services_is_refused(
    program: str, tmp_path: Path, limits: Limits, services: tuple[Sidecar, ...], refused: str
) -> None:
    with (
        pytest.raises(EngineError, match=refused),
        made(program, tmp_path).open(BoxSpec(IMAGE.name, limits, services=services)),
    ):
        pass


def test_box_of_a_dead_owner_is_found_by_another_process_and_removed(program: str, tmp_path: Path) -> None:
    engine = made(program, tmp_path)
    left = tmp_path / "boxes/assay-left"
    left.mkdir()
    (left / "box.json").write_text(json.dumps({"labels": {OWNER: dead_process()}, "image": "/gone.sif"}))
    with engine.open(BoxSpec(IMAGE.name)):
        assert engine.orphans() == ["assay-left"]
        assert engine.reap() == ["assay-left"]
        assert len(list((tmp_path / "boxes").iterdir())) == 1


def test_folder_of_boxes_of_another_user_is_refused(program: str, tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("only root can give a folder away")
    (tmp_path / "boxes").mkdir()
    os.chown(tmp_path / "boxes", 12345, 12345)
    with pytest.raises(EngineUnavailable, match="set TMPDIR"):
        made(program, tmp_path)


def test_machine_without_the_program_says_what_to_install() -> None:
    with pytest.raises(EngineUnavailable, match="neither apptainer nor singularity is on the PATH"):
        find_program({"PATH": "/nonexistent"})


def test_apptainer_comes_before_singularity(tmp_path: Path) -> None:
    for name in ("singularity", "apptainer"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    if os.geteuid() == 0:
        assert find_program({"PATH": str(tmp_path)}).name == "apptainer"


def test_user_without_users_of_their_own_is_refused(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apptainer_program.os, "geteuid", lambda: 65534)
    monkeypatch.setattr(apptainer_program, "_has_range", lambda _file, _names: False)
    with pytest.raises(EngineUnavailable, match=r"user nobody has no users of their own.*line in /etc/subuid"):
        find_program({"PATH": str(tmp_path)})
    monkeypatch.setattr(apptainer_program, "_has_range", lambda _file, _names: True)
    assert find_program({"PATH": str(tmp_path)}).as_root == ("--fakeroot",)


def test_users_of_a_user_are_read_by_name_or_number(tmp_path: Path) -> None:
    file = tmp_path / "subuid"
    file.write_text("ann:100000:65536\n1002:165536:65536\n")
    assert apptainer_program._has_range(file, {"ann", "1001"})
    assert apptainer_program._has_range(file, {"bob", "1002"})
    assert not apptainer_program._has_range(file, {"eve", "1003"})
    assert not apptainer_program._has_range(tmp_path / "none", {"ann"})


def test_size_of_a_folder_is_what_it_takes_on_the_disk(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(1_000_000))
    os.link(tmp_path / "a", tmp_path / "b")
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(10**9)
    assert 1_000_000 <= measure_folder(tmp_path) < 1_200_000


def test_person_works_in_a_box_with_the_program_s_own_input_and_output(
    program: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with made(program, tmp_path).open(BoxSpec(IMAGE.name)) as box:
        assert box.attached is not None
        done = box.attached.attach(["bash"], "nobody", "/tmp", {"A": "b"})
    assert (done.exit_code, capfd.readouterr().out) == (0, "\nprinted\n")
    *_, execute, _ = calls(tmp_path)
    assert execute[-6:] == ["", "nobody", "/tmp", "16777216", "", "bash"]
