"""The cards of a machine: which are there, which the variable shows, who uses them, and whether they still work."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.cli import options
from assay.harness.domain import Card
from assay.harness.engines import cdi, host_cards
from assay.harness.engines.cards import HostCard
from assay.harness.engines.fake import FakeEngine
from assay.harness.engines.host_cards import (
    NVIDIA,
    find_cards,
    find_fault,
    find_users,
    make_pool,
    select_visible,
    split_cards,
)
from assay.harness.errors import DataError, EngineError, UserError
from made_up_cards import KIND, make_nodes, write_spec

LISTED = """\
GPU 0: NVIDIA H200 (UUID: GPU-aaaa1111)
GPU 1: NVIDIA H200 (UUID: GPU-aaaa2222)
GPU 2: NVIDIA A30 (UUID: GPU-bbbb3333)
  MIG 2g.12gb     Device  0: (UUID: MIG-cccc)
  MIG 2g.12gb     Device  1: (UUID: MIG-dddd)
"""
SMI = """#!/bin/sh
case $1 in
    -L) cat HERE/listed || exit 9 ;;
    --query-gpu=driver_version) echo 570.86.15; echo 570.86.15 ;;
    --query-compute-apps=*) cat HERE/apps ;;
esac
"""


@pytest.fixture(autouse=True)
def _a_machine_without_cards(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cdi, "USUAL", ())
    monkeypatch.setattr(host_cards, "DRIVER", tmp_path / "driver")
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


@pytest.fixture
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a program in the place of NVIDIA's, which lists what is in the files of the folder that it returns."""
    program = tmp_path / "bin/nvidia-smi"
    program.parent.mkdir()
    program.write_text(SMI.replace("HERE", str(tmp_path)))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    (tmp_path / "listed").write_text(LISTED)
    (tmp_path / "apps").write_text("")
    for number, uuid in enumerate(("GPU-aaaa1111", "GPU-aaaa2222")):
        folder = tmp_path / f"driver/0000:0{number}:00.0"
        folder.mkdir(parents=True)
        (folder / "information").write_text(
            f"Model: \t\t NVIDIA H200\nGPU UUID: \t {uuid}\nDevice Minor: \t {number + 3}\n"
        )
    return tmp_path


def names(cards: list[HostCard]) -> list[str]:
    return [each.card.name for each in cards]


def test_a_machine_without_cards_has_none() -> None:
    assert find_cards() == []
    assert options.NVIDIA == NVIDIA


def test_nvidias_cards_have_their_uuid_model_driver_and_node_and_slices_replace_their_card(smi: Path) -> None:
    found = find_cards()
    assert names(found) == ["GPU-aaaa1111", "GPU-aaaa2222", "MIG-cccc", "MIG-dddd"]
    assert found[0].card == Card(name="GPU-aaaa1111", model="NVIDIA H200", driver="570.86.15")
    assert found[3].card.model == "NVIDIA A30 MIG 2g.12gb"


def test_a_number_in_a_spec_of_cdi_is_matched_by_the_device_node_not_by_a_jobs_own_count(smi: Path) -> None:
    """In a job that has card 4 of a machine alone, programs count it as 0, and the spec as 4."""
    devices = {"0": "/dev/nvidia0", "4": "/dev/nvidia4", "2:1": "/dev/nvidia2"}
    folder = write_spec(smi / "cdi", {name: [node] for name, node in devices.items()}, kind=NVIDIA)
    found = {each.card.name: each.device and each.device.name for each in find_cards(NVIDIA, [folder])}
    assert found == {"GPU-aaaa1111": None, "GPU-aaaa2222": "4", "MIG-cccc": None, "MIG-dddd": "2:1"}


@pytest.mark.parametrize(
    ("visible", "expected"),
    [
        (None, ["GPU-aaaa1111", "GPU-aaaa2222", "MIG-cccc", "MIG-dddd"]),
        ("1,0", ["GPU-aaaa2222", "GPU-aaaa1111"]),
        ("GPU-aaaa2", ["GPU-aaaa2222"]),
        ("GPU-aaaa", []),
        ("MIG-dddd, MIG-cccc", ["MIG-dddd", "MIG-cccc"]),
        ("0,-1,1", ["GPU-aaaa1111"]),
        ("0,0", ["GPU-aaaa1111"]),
        ("0,7,1", ["GPU-aaaa1111"]),
        ("", []),
        ("NoDevFiles", []),
    ],
)
def test_the_variable_is_read_as_cuda_reads_it(
    smi: Path, monkeypatch: pytest.MonkeyPatch, visible: str | None, expected: list[str]
) -> None:
    assert names(select_visible(find_cards(), visible)) == expected
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert names(find_cards()) == expected


def test_a_card_with_two_names_in_a_spec_is_one(tmp_path: Path) -> None:
    names_of_two = {"0": ["/a/card0", "/a/ctl"], "ACME-1": ["/a/card0", "/a/ctl"], "1": ["/a/card1", "/a/ctl"]}
    found = find_cards(KIND, [write_spec(tmp_path / "cdi", names_of_two)])
    assert [(each.card.name, each.nodes) for each in found] == [
        (f"{KIND}=0", ("/a/card0",)),
        (f"{KIND}=1", ("/a/card1",)),
    ], "what all cards share does not identify one"


def test_a_run_with_more_cards_than_there_are_is_refused_with_the_reason(tmp_path: Path) -> None:
    folder = write_spec(tmp_path / "cdi", {"0": ["/a/card0"], "1": ["/a/card1"]})
    with pytest.raises(
        UserError, match="--gpus 3: 2 cards can be given to containers; nvidia-smi and CDI specs show no further acme"
    ):
        make_pool(FakeEngine({}), 3, KIND, [folder])
    assert len(make_pool(FakeEngine({}), None, KIND, [folder]).cards) == 2
    assert len(make_pool(FakeEngine({}), 1, KIND, [folder]).cards) == 1
    assert make_pool(FakeEngine({}), 0, KIND, [folder]).cards == ()
    assert split_cards(FakeEngine({}), find_cards(KIND, [folder]))[0][0].card.runtime == "acted out"


def test_a_wrong_spec_is_an_error_at_once_where_it_was_asked_for_and_else_no_patchs_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "usual").mkdir()
    (tmp_path / "usual/acme.yaml").write_text(f"kind: {KIND}\n")
    with pytest.raises(DataError, match=r"acme\.yaml: field devices: is missing"):
        make_pool(FakeEngine({}), None, KIND, [tmp_path / "usual"])
    monkeypatch.setattr(cdi, "USUAL", (tmp_path / "usual",))
    with pytest.raises(DataError, match=r"acme\.yaml: field devices: is missing"):
        make_pool(FakeEngine({}), 1, KIND)
    pool = make_pool(FakeEngine({}), None, KIND)
    with pytest.raises(EngineError, match=r"the cards of this machine cannot be listed: .*acme\.yaml"):
        pool.check(1)


def test_a_card_of_nvidias_that_is_not_listed_any_more_fell_off_the_bus(smi: Path) -> None:
    card = HostCard(Card(name="GPU-aaaa1111"), is_nvidia=True)
    assert find_fault(card) == ""
    (smi / "listed").write_text("Unable to determine the device handle for GPU0: Unknown Error\n")
    assert find_fault(card).startswith("is not listed by nvidia-smi any more: Unable to determine")
    (smi / "listed").unlink()
    assert "No such file" in find_fault(card)


def test_whoever_computes_on_a_card_of_nvidias_uses_it(smi: Path) -> None:
    (smi / "apps").write_text("GPU-aaaa1111, 4711, /usr/bin/python3\nGPU-aaaa2222, 4712, [Not Found]\n")
    assert find_users(HostCard(Card(name="GPU-aaaa1111"), is_nvidia=True), 0.0) == ["process 4711 (python3)"]
    assert find_users(HostCard(Card(name="GPU-bbbb3333"), is_nvidia=True), 0.0) == []


@pytest.fixture
def card(tmp_path: Path) -> HostCard:
    return HostCard(Card(name=f"{KIND}=0"), (str(make_nodes(tmp_path, 1)[0]),))


@pytest.fixture
def user(card: HostCard) -> Iterator["subprocess.Popen[str]"]:
    """Start a process that has a card's node open under another name, as one in a container does."""
    number = Path(card.nodes[0]).stat().st_rdev
    twin = Path(card.nodes[0]).with_name("twin")
    os.mknod(twin, 0o600 | 0o020000, number)
    text = f"file = open({str(twin)!r}); print('open', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        yield process
        process.kill()


def test_whoever_has_the_node_of_another_vendors_card_open_uses_it(
    card: HostCard, user: "subprocess.Popen[str]"
) -> None:
    found = find_users(card, 0.0)
    assert [each for each in found if each.startswith(f"process {user.pid} (python")]
    user.communicate("\n")
    assert f"process {user.pid}" not in " ".join(find_users(card, 0.0))


def test_a_node_that_is_gone_is_a_fault(card: HostCard) -> None:
    assert find_fault(card) == ""
    Path(card.nodes[0]).unlink()
    assert find_fault(card) == f"has lost its device node {card.nodes[0]}"
