"""The doctor finds limits held by the real engine, and not held by one that lets go of them."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from assay.harness.domain import Limits
from assay.harness.engines import doctor
from assay.harness.engines.base import Box, BoxSpec, ExecResult, ImageInfo
from assay.harness.engines.docker import DockerEngine
from assay.harness.engines.doctor import PROBES, Lab, State, measure, toolchain_image
from assay.harness.engines.fake import FakeEngine
from assay.harness.errors import EngineError


class LooseEngine:
    """The real engine, without the limits that it is given."""

    builds_images = has_containers = True

    def __init__(self, engine: DockerEngine) -> None:
        self._engine = engine

    @contextmanager
    def open(self, spec: BoxSpec) -> Iterator[Box]:
        none = Limits(memory_mb=4096, cpus=2, pids=4096, network=not spec.limits.network, capabilities=("SYS_ADMIN",))
        with self._engine.open(replace(spec, limits=none)) as box:
            yield LooseBox(box)  # type: ignore[misc]

    def orphans(self) -> list[str]:
        return []

    def build(self, *args: Any, **kwargs: Any) -> None:
        self._engine.build(*args, **kwargs)  # with the engine's own limits

    def remove_image(self, name: str) -> None:
        self._engine.remove_image(name)


class LooseBox:
    def __init__(self, box: Box) -> None:
        self._box = box

    def exec(self, command: list[str], **_limits: Any) -> ExecResult:
        return self._box.exec(command, seconds=60, output_bytes=10**9)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._box, name)


@pytest.mark.docker
def test_the_real_engine_holds_every_limit(docker_engine: DockerEngine, toolchain_image: str) -> None:
    measured = {each.limit: each for each in measure(docker_engine, toolchain_image, seconds=600, patience=120)}
    assert list(measured) == list(PROBES)
    assert not [each for each in measured.values() if each.state is State.IGNORED]
    clear = {"process limit", "memory limit", "deadline", "output limit", "no network", "few capabilities"}
    assert not [measured[name] for name in clear if measured[name].state is not State.ENFORCED]


@pytest.mark.docker
@pytest.mark.parametrize("limit", sorted(set(PROBES) - {"no new privileges", "clean removal"}))
def test_a_limit_that_does_not_hold_is_seen(docker_engine: DockerEngine, toolchain_image: str, limit: str) -> None:
    state, found = PROBES[limit](Lab(LooseEngine(docker_engine), toolchain_image))  # type: ignore[arg-type]
    too_busy = limit == "processor limit" and "too busy" in found
    assert state is State.IGNORED or too_busy, found


@pytest.mark.docker
def test_a_box_of_a_dead_owner_is_seen_and_then_gone(docker_engine: DockerEngine, toolchain_image: str) -> None:
    measured = doctor._measure("clean removal", doctor.clean_removal, Lab(docker_engine, toolchain_image))
    # A process beside this one may have taken it for an orphan.
    assert measured.found == "nothing left behind" or "somebody else removed the container" in measured.found


@pytest.mark.docker
def test_a_box_that_nobody_can_see_is_no_proof_of_clean_removal(
    docker_engine: DockerEngine, toolchain_image: str
) -> None:
    lab = Lab(LooseEngine(docker_engine), toolchain_image)  # type: ignore[arg-type]
    assert doctor.clean_removal(lab)[0] is State.UNKNOWN


class SlowEngine(FakeEngine):
    """Answers only when it is aborted."""

    def orphans(self) -> list[str]:
        assert self._stop.wait(600), "nobody aborted it"
        return []


def test_what_takes_too_long_or_breaks_is_unknown() -> None:
    engine = SlowEngine({})
    measured = {each.limit: each for each in measure(engine, "no such image", seconds=0.5)}
    assert {each.state for each in measured.values()} == {State.UNKNOWN}
    assert "no answer within" in measured["clean removal"].found
    assert "no image" in measured["deadline"].found


def test_a_limit_is_ignored_only_if_it_does_not_act_alone_either(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def act_late(lab: Lab) -> tuple[State, str]:
        asked.append(lab.patience)
        return (State.ENFORCED if lab.patience > 20 else State.IGNORED), f"{lab.patience:.0f} s"

    never = {"never": lambda _: (State.IGNORED, "nothing happened")}
    monkeypatch.setattr(doctor, "PROBES", {"late": act_late, **never})
    late, ignored = measure(FakeEngine({}), "any", patience=8)
    assert (late.state, late.found, ignored.state) == (State.ENFORCED, "24 s", State.IGNORED)
    assert asked == [8, 24]


def test_an_engine_that_breaks_is_no_engine_that_ignores() -> None:
    def fault(call: str, _image: str) -> None:
        raise EngineError("it is on fire")

    measured = measure(FakeEngine({}, fault=fault), "any")
    assert {each.state for each in measured if each.limit != "clean removal"} == {State.UNKNOWN}
    assert "on fire" in measured[0].found


def test_only_a_toolchain_image_will_do() -> None:
    class Engine(FakeEngine):
        def list_images(self) -> list[ImageInfo]:
            kinds = {"a": "instance", "<none>:<none>": "toolchain", "b": "toolchain"}
            return [ImageInfo(name, "", labels={"assay.kind": kind}) for name, kind in kinds.items()]

    assert toolchain_image(Engine({})) == "b"
    assert toolchain_image(FakeEngine({})) is None


def assay(*args: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-m", "assay", *args], capture_output=True, text=True, check=False)


def test_without_an_image_it_says_how_to_make_one_and_does_not_fail_for_that() -> None:
    done = json.loads(assay("doctor", "--engine", "fake", "--json").stdout)
    assert done["limits"] == []
    assert "assay images build" in done["limits_not_measured"]
    assert "limits not measured" in assay("doctor", "--engine", "fake").stdout


@pytest.mark.docker
def test_the_command_measures_and_quick_does_not(toolchain_image: str) -> None:
    quick = json.loads(assay("doctor", "--quick", "--json").stdout)
    assert quick["limits"] == []
    shown = json.loads(assay("doctor", "--json").stdout)
    assert [each["limit"] for each in shown["limits"]] == list(PROBES)
    assert {each["state"] for each in shown["limits"]} <= {"enforced", "unknown"}
