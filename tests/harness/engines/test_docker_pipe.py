"""A program in a container that is sent its work piece by piece."""

import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from assay.harness.domain import Limits
from assay.harness.engines.base import Box, Piped
from assay.harness.engines.docker import DockerEngine
from assay.harness.errors import EngineError

pytestmark = pytest.mark.docker
ECHO = ["sh", "-c", "while read -r line; do [ $line != stop ] || exit; echo got $line; done"]


@pytest.fixture
def box(docker_engine: DockerEngine, toolchain_image: str) -> Iterator[Box]:
    with docker_engine.open(toolchain_image, Limits(), {"assay.run": "pipe"}) as opened:
        yield opened


def test_what_is_sent_is_answered_as_often_as_one_likes(box: Box) -> None:
    assert isinstance(box, Piped)
    pipe = box.pipe(ECHO)
    assert pipe.exchange(b"one\n", b"\n", 10) == b"got one"
    assert pipe.exchange(b"two\nthree\n", b"three\n", 10) == b"got two\ngot "
    assert pipe.exchange(b"stop\n", b"\n", 10) is None
    pipe.close()


def test_the_end_of_its_input_ends_the_program(box: Box) -> None:
    assert isinstance(box, Piped)
    pipe = box.pipe(["sh", "-c", "cat; echo over > /tmp/over"])
    assert pipe.exchange(b"x\n", b"\n", 10) == b"x"
    pipe.close()
    deadline = time.monotonic() + 60
    while not box.get("/tmp/over", 100) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert box.get("/tmp/over", 100) == {"over": b"over\n"}


def test_user_folder_and_environment_are_as_asked(box: Box) -> None:
    assert isinstance(box, Piped)
    pipe = box.pipe(
        ["sh", "-c", 'read -r x; id -u; pwd; echo "$A"; echo end'], user="1234", workdir="/tmp", env={"A": "b c"}
    )
    assert pipe.exchange(b"go\n", b"end\n", 10) == b"1234\n/tmp\nb c\n"
    pipe.close()


def test_at_the_deadline_the_whole_box_is_killed(docker_engine: DockerEngine, toolchain_image: str) -> None:
    with ExitStack() as opened:
        box = opened.enter_context(docker_engine.open(toolchain_image, Limits(), {"assay.run": "pipe"}))
        assert isinstance(box, Piped)
        pipe = box.pipe(["sleep", "600"])
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
