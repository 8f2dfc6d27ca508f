"""Boxes that are opened ahead: for the same alone, used once, bounded, and removed in the end."""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from assay.harness.domain import Instance, Limits
from assay.harness.engines import warm
from assay.harness.engines.base import BoxSpec
from assay.harness.engines.docker import DockerEngine
from assay.harness.engines.fake import FakeEngine, image_name
from assay.harness.engines.owner import OWNER
from assay.harness.engines.warm import WarmEngine
from assay.harness.errors import EngineError, ImageMissing
from served import until

LABELS = {"assay.instance": "acme__calc-1"}
LIMITS = Limits()


@pytest.fixture
def fake(instance: Instance) -> FakeEngine:
    other = instance.model_copy(update={"id": "acme__calc-2"})
    return FakeEngine({image_name(each): each for each in (instance, other)})


@pytest.fixture
def image(instance: Instance) -> str:
    return image_name(instance)


@pytest.fixture
def spec(image: str) -> BoxSpec:
    return BoxSpec(image, LIMITS, LABELS)


@pytest.fixture
def engine(fake: FakeEngine) -> Iterator[WarmEngine]:
    engine = WarmEngine(fake, most=2, jobs=2)
    yield engine
    engine.abort()
    assert fake.alive == set()


def use(engine: WarmEngine, image: str) -> None:
    with engine.open(BoxSpec(image, LIMITS, LABELS)):
        pass


def wait_for(engine: WarmEngine, spec: BoxSpec, boxes: int = 1) -> None:
    for _ in range(boxes):
        engine.expect(spec)
    until(lambda: engine.waiting == boxes)


def test_a_box_is_opened_ahead_for_what_was_used_last(
    engine: WarmEngine, fake: FakeEngine, image: str, spec: BoxSpec
) -> None:
    use(engine, image)
    until(lambda: engine.waiting == 1)
    assert fake.opened == 2
    with engine.open(spec) as box:
        assert box.create_seconds == box.start_seconds == 0.0
        until(lambda: engine.waiting == 2)  # both places of what was used last
        assert fake.opened == 4
    assert len(fake.alive) == engine.waiting


def test_a_box_is_used_once(engine: WarmEngine, spec: BoxSpec) -> None:
    wait_for(engine, spec)
    with ExitStack() as stack:
        one, other = (stack.enter_context(engine.open(spec)) for _ in range(2))
        assert one is not other


@pytest.mark.parametrize(
    ("limits", "labels"),
    [(Limits(seconds=7), LABELS), (Limits(network=True), LABELS), (LIMITS, {"assay.run": "other"})],
)
def test_a_box_is_given_for_the_same_settings_alone(
    engine: WarmEngine, fake: FakeEngine, image: str, spec: BoxSpec, limits: Limits, labels: dict[str, str]
) -> None:
    wait_for(engine, spec)
    waiting = set(fake.alive)
    with engine.open(BoxSpec(image, limits, labels)):
        assert fake.alive - waiting


def test_a_box_of_an_image_that_changed_is_not_used(
    engine: WarmEngine, fake: FakeEngine, image: str, spec: BoxSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_for(engine, spec)
    (waiting,) = fake.alive
    found = fake.find_image(image)
    assert found is not None
    monkeypatch.setattr(fake, "find_image", lambda _name: replace(found, digest="sha256:another"))
    use(engine, image)
    assert waiting in fake.alive  # it waits for its own kind, until others have been asked for often enough
    use(engine, image)
    until(lambda: waiting not in fake.alive and engine.waiting == 2)


def test_there_are_never_more_than_may_wait(engine: WarmEngine, fake: FakeEngine, instance: Instance) -> None:
    for number in (1, 2, 1, 2, 2, 1):
        use(engine, image_name(instance.model_copy(update={"id": f"acme__calc-{number}"})))
        assert len(fake.alive) <= 3  # one more may be on its way out
    until(lambda: len(fake.alive) == engine.waiting == 2)


def test_nothing_is_opened_ahead_while_all_jobs_have_boxes(engine: WarmEngine, fake: FakeEngine, spec: BoxSpec) -> None:
    with engine.open(spec), engine.open(spec):
        engine.drop()
        opened = fake.opened
        engine.expect(spec)
        time.sleep(0.1)
        assert (fake.opened, engine.waiting) == (opened, 0)
    until(lambda: engine.waiting == 1)


def test_an_old_box_is_replaced(
    engine: WarmEngine, fake: FakeEngine, spec: BoxSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_for(engine, spec)
    first = set(fake.alive)
    monkeypatch.setattr(warm, "OLDEST", 0.0)
    with engine.open(spec):
        until(lambda: not first & fake.alive)


def test_a_spare_that_cannot_take_the_delivery_is_no_failure(
    engine: WarmEngine, fake: FakeEngine, spec: BoxSpec
) -> None:
    wait_for(engine, spec)
    failures = ["put"]

    def fault(call: str, _image: str) -> None:
        if call in failures:
            failures.remove(call)
            raise EngineError("the container is gone")

    fake.fault = fault
    with engine.open(replace(spec, archive=bytes(10240))) as box:
        assert box.exec(["true"]).exit_code == 0


def test_what_breaks_one_box_drops_those_that_wait(engine: WarmEngine, fake: FakeEngine, spec: BoxSpec) -> None:
    wait_for(engine, spec, 2)
    first = set(fake.alive)
    with pytest.raises(EngineError, match="restarted"), engine.open(spec):
        raise EngineError("the engine restarted")
    assert not first & fake.alive


def test_boxes_that_cannot_be_opened_ahead_are_left_to_the_evaluation(
    engine: WarmEngine, fake: FakeEngine, image: str
) -> None:
    def fault(call: str, _image: str) -> None:
        if call == "open" and threading.current_thread().name == "assay-spares":
            raise EngineError("no room")

    fake.fault = fault
    use(engine, image)
    use(engine, image)
    assert engine.waiting == 0
    with pytest.raises(ImageMissing):
        use(engine, "none")


def test_the_end_removes_the_boxes_that_wait_and_no_box_at_work(
    engine: WarmEngine, fake: FakeEngine, image: str, spec: BoxSpec
) -> None:
    wait_for(engine, spec, 2)
    with engine.open(spec) as box:
        engine.end()
        assert (engine.waiting, len(fake.alive)) == (0, 1)
        assert box.exec(["true"]).exit_code == 0
    use(engine, image)
    assert (engine.waiting, len(fake.alive)) == (0, 0)


@pytest.mark.docker
def test_a_container_that_waits_is_labelled_like_every_other_and_runs_what_is_delivered(
    docker_engine: DockerEngine, toolchain_image: str
) -> None:
    engine = WarmEngine(docker_engine, most=1, jobs=1)
    client = docker_engine._client
    try:
        spec = BoxSpec(toolchain_image, Limits(memory_mb=128), LABELS | {"assay.test": "warm"})
        wait_for(engine, spec)
        (waiting,) = client.containers(filters={"label": "assay.test=warm"})
        assert OWNER in waiting["Labels"]
        with engine.open(replace(spec, archive=bytes(10240))) as box:
            shown = box.exec(["cat", "/etc/hosts"])
            assert (shown.exit_code, b"localhost" in shown.output) == (0, True)
            assert any(each["Id"] == waiting["Id"] for each in client.containers())
    finally:
        engine.end()
    assert client.containers(all=True, filters={"label": "assay.test=warm"}) == []


@pytest.mark.docker
def test_a_waiting_container_that_somebody_removed_costs_no_evaluation(
    docker_engine: DockerEngine, toolchain_image: str
) -> None:
    engine = WarmEngine(docker_engine, most=1, jobs=1)
    spec = BoxSpec(toolchain_image, LIMITS, LABELS | {"assay.test": "removed"})
    try:
        wait_for(engine, spec)
        for each in docker_engine._client.containers(filters={"label": "assay.test=removed"}):
            docker_engine._client.remove_container(each["Id"], force=True)
        with engine.open(replace(spec, archive=bytes(10240))) as box:
            assert box.exec(["true"]).exit_code == 0
    finally:
        engine.end()
