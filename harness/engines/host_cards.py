"""Finds the cards of this machine, who uses them, and whether they still work."""

import os
import re
import shutil
import socket
import stat
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.harness.domain import Card
from assay.harness.engines.cards import CardPool, CardWatch, HostCard
from assay.harness.engines.cdi import CdiDevice, read_devices
from assay.harness.errors import EngineError, UserError
from assay.harness.files import default_cache
from assay.harness.names import count

if TYPE_CHECKING:
    from assay.harness.engines.base import Engine

NVIDIA = "nvidia.com/gpu"
"""The kind of NVIDIA's cards in CDI."""
SMI = "nvidia-smi"
SMI_SECONDS = 60.0
DRIVER = Path("/proc/driver/nvidia/gpus")
"""A folder for each card of NVIDIA's, whose ``information`` has its UUID and the number of its device node."""
VISIBLE = "CUDA_VISIBLE_DEVICES"
POLL = 0.5
SLICE = "MIG-"  # beginning of the UUID of a part of a card
_CARD = re.compile(r"GPU (\d+): (.+) \(UUID: (\S+)\)")
_SLICE = re.compile(r"\s+(MIG \S+)\s+Device\s+(\d+): \(UUID: (\S+)\)")


def make_pool(engine: "Engine", wanted: int | None, kind: str = NVIDIA, folders: Sequence[Path] = ()) -> CardPool:
    """Make the pool of the cards that an engine can give to containers: a number of them, or all.

    They are looked for when the first instance needs one, or at once where something is asked for: then it raises
    UserError if there are not as many, with the reason, and as ``read_devices``.
    """

    def find() -> list[HostCard]:
        try:
            given, _ = split_cards(engine, find_cards(kind, folders))
        except UserError as error:
            raise EngineError(f"the cards of this machine cannot be listed: {error}") from error
        return given[:wanted]

    if wanted or folders:
        given, refused = split_cards(engine, find_cards(kind, folders))
        if wanted and wanted > len(given):
            reason = next(iter(refused.values()), f"{SMI} and CDI specs show no further {kind} here")
            raise UserError(f"--gpus {wanted}: {count(len(given), 'card')} can be given to containers; {reason}")
    return CardPool(find, CardWatch(find_users, find_fault), default_cache() / "cards" / socket.gethostname())


def split_cards(engine: "Engine", found: Sequence[HostCard]) -> tuple[list[HostCard], dict[str, str]]:
    """Return the cards that an engine can give to containers, each with its way, and why not the others, by name."""
    given, refused = [], {}
    for each in found:
        try:
            runtime = engine.choose_card_way(each)
        except EngineError as error:
            refused[each.card.name] = str(error)
        else:
            given.append(replace(each, card=each.card.model_copy(update={"runtime": runtime})))
    return given, refused


def find_cards(kind: str = NVIDIA, folders: Sequence[Path] = ()) -> list[HostCard]:
    """Return the cards of this machine that CUDA_VISIBLE_DEVICES shows; raises as ``read_devices``."""
    devices = read_devices(kind, folders)
    has_smi = kind == NVIDIA and shutil.which(SMI)
    found = _ask_smi(devices) if has_smi else _read_cards(devices)
    return select_visible(found, os.environ.get(VISIBLE))


def select_visible(cards: Sequence[HostCard], visible: str | None) -> list[HostCard]:
    """Return the cards that a list of numbers, UUIDs and their beginnings names, as CUDA reads it; all for None.

    What follows a word that names no card, or one of several, does not count.
    """
    if visible is None:
        return [*cards]
    chosen: list[HostCard] = []
    for word in map(str.strip, visible.split(",")):
        exact = [each for each in cards if each.card.name == word]
        starts = [each for each in cards if word[:4] in {"GPU-", SLICE} and each.card.name.startswith(word)]
        whole = [each for each in cards if not each.card.name.startswith(SLICE)]
        numbered = whole[int(word) : int(word) + 1] if word.isdecimal() else []
        named = exact or numbered or starts
        if len(named) != 1 or named[0] in chosen:
            break
        chosen += named
    return chosen


def _read_cards(devices: Sequence[CdiDevice]) -> list[HostCard]:
    """Return the cards that CDI specs describe; a card with several names once, under the first."""
    once: dict[object, CdiDevice] = {}
    for each in devices:
        once.setdefault(frozenset(each.nodes) or each.name, each)
    owners = Counter(node for each in once.values() for node in set(each.nodes))
    return [
        HostCard(Card(name=each.full_name), tuple(node for node in each.nodes if owners[node] == 1), each)
        for each in once.values()
    ]


def _ask_smi(devices: Sequence[CdiDevice]) -> list[HostCard]:
    """Return the cards, or the slices that cards are cut into, that NVIDIA's program lists; none if it fails."""
    done = _run_smi("-L")
    driver = _run_smi("--query-gpu=driver_version", "--format=csv,noheader").stdout.partition("\n")[0].strip()
    by_name = {each.name: each for each in devices}
    found: dict[str, list[HostCard]] = {}
    for line in done.stdout.splitlines():
        if whole := _CARD.match(line):
            number, model, uuid = whole.groups()
            node = _find_node(uuid)
            device = by_name.get(uuid) or next((each for each in devices if node in each.nodes), None)
            card = Card(name=uuid, model=model, driver=driver)
            found[number] = [HostCard(card, (node,) if node else (), device, is_nvidia=True)]
        elif (part := _SLICE.match(line)) and found:
            number, before = [*found.items()][-1]
            name, place, uuid = part.groups()
            card = Card(name=uuid, model=f"{model} {name}", driver=driver)
            device = by_name.get(uuid) or by_name.get(f"{number}:{place}")
            slices = [each for each in before if each.card.name.startswith(SLICE)]
            found[number] = [*slices, HostCard(card, (), device, is_nvidia=True)]
    return [each for cards in found.values() for each in cards]


def _find_node(uuid: str) -> str:
    """Return the device node of a card of NVIDIA's; empty if its driver does not say."""
    for file in DRIVER.glob("*/information"):
        with suppress(OSError):
            facts = dict(re.findall(r"^(.+?):\s+(.+?)\s*$", file.read_text(), re.MULTILINE))
            if facts.get("GPU UUID") == uuid and "Device Minor" in facts:
                return f"/dev/nvidia{facts['Device Minor']}"
    return ""


def _run_smi(*words: str) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(
            [SMI, *words], capture_output=True, text=True, errors="replace", timeout=SMI_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(words, 1, "", str(error))


def find_fault(card: HostCard) -> str:
    """Say why a card can no longer be used: its driver does not list it, or its device node is gone."""
    gone = next((node for node in card.nodes if not Path(node).exists()), "")
    if gone:
        return f"has lost its device node {gone}"
    if not card.is_nvidia:
        return ""
    listed = _run_smi("-L")
    if card.card.name in listed.stdout:
        return ""
    return f"is not listed by {SMI} any more: {(listed.stderr or listed.stdout).strip()[:200]}".rstrip(": ")


def find_users(card: HostCard, settle: float) -> list[str]:
    """Name the processes that use a card and still do after some seconds, as far as this user may see them.

    NVIDIA's driver says who computes on a card: its daemons have device nodes open, too. Of other cards, whoever has
    their nodes open uses them.
    """
    latest = time.monotonic() + settle
    while found := [*(_list_computing(card.card.name) if card.is_nvidia else _list_opened(card.nodes))]:
        if time.monotonic() >= latest:
            break
        time.sleep(POLL)
    return found


def _list_computing(uuid: str) -> Iterator[str]:
    done = _run_smi("--query-compute-apps=gpu_uuid,pid,process_name", "--format=csv,noheader")
    for line in done.stdout.splitlines():
        words = [word.strip() for word in line.split(",", 2)]
        if len(words) == 3 and words[0] == uuid:
            yield f"process {words[1]} ({Path(words[2]).name})"


def _list_opened(nodes: Sequence[str]) -> Iterator[str]:
    numbers = set()
    for node in nodes:
        with suppress(OSError):
            numbers.add(Path(node).stat().st_rdev)
    for folder in Path("/proc").glob("[0-9]*") if numbers else ():
        with suppress(OSError):
            if any(_is_device(file, numbers) for file in (folder / "fd").iterdir()):
                yield f"process {folder.name} ({(folder / 'comm').read_text().strip()})"


def _is_device(path: Path, numbers: set[int]) -> bool:
    with suppress(OSError):
        found = path.stat()
        return stat.S_ISCHR(found.st_mode) and found.st_rdev in numbers
    return False
