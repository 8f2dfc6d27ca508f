"""Cancelling one evaluation: its boxes end, other boxes stay."""

import threading
import time

import pytest

from assay import Evaluator, Instance
from assay.harness.engines.base import BoxSpec
from assay.harness.engines.cancelling import Cancellation
from assay.harness.engines.docker import DockerEngine
from assay.harness.engines.fake import FakeEngine
from assay.harness.errors import RunStopped
from served import until
from toy import GOLD, make_instance

SLOW = 120.0


def test_a_request_ends_the_box_of_its_evaluation_and_no_other() -> None:
    instances = [make_instance(id=f"acme__calc-{number}") for number in (1, 2)]
    stopped: list[RunStopped] = []
    with Evaluator(instances, engine="fake", jobs=2) as evaluator:
        engine = evaluator.place.bench.engine
        assert isinstance(engine, FakeEngine)
        engine.seconds = 600
        cancellations = [Cancellation(), Cancellation()]

        def judge(number: int) -> None:
            with pytest.raises(RunStopped) as caught:
                evaluator.judge_task(
                    evaluator.place.task(*evaluator.pair(instances[number], GOLD)), cancellations[number]
                )
            stopped.append(caught.value)

        threads = [threading.Thread(target=judge, args=(number,)) for number in (0, 1)]
        for thread in threads:
            thread.start()
        until(lambda: len(engine.alive) == 2)
        cancellations[0].request()
        threads[0].join(SLOW)
        assert [str(each) for each in stopped] == ["acme__calc-1: cancelled"]
        assert len(engine.alive) == 1
        cancellations[1].request()
        threads[1].join(SLOW)
        assert engine.alive == set()


def test_after_a_request_nothing_is_opened(instance: Instance) -> None:
    engine, cancellation = FakeEngine({}), Cancellation()
    cancellation.request()
    with pytest.raises(RunStopped), cancellation.watch(engine).open(BoxSpec(engine.act_out(instance))):
        pass
    assert engine.opened == 0


def test_a_watched_engine_is_otherwise_the_engine(instance: Instance) -> None:
    engine = FakeEngine({})
    watched = Cancellation().watch(engine)
    assert (watched.name, watched.has_containers, watched.describe()) == ("fake", False, engine.describe())


@pytest.mark.docker
def test_a_request_kills_a_container_at_work(docker_engine: DockerEngine, toolchain_image: str) -> None:
    cancellation = Cancellation()
    began = time.monotonic()
    timer = threading.Timer(1.0, cancellation.request)
    with cancellation.watch(docker_engine).open(BoxSpec(toolchain_image)) as box:
        timer.start()
        done = box.exec(["sleep", "600"], seconds=600)
    assert done.exit_code == 137
    assert time.monotonic() - began < SLOW
