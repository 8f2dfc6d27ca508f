from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assay.harness.engines.base import ImageInfo
from assay.harness.engines.fake import FakeEngine
from assay.harness.errors import EngineError, EnvironmentFailure
from assay.instances.toolchains.ensure import SharedFailures, ensure


class Images(FakeEngine):
    """An engine's images, and a way to make one."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        super().__init__({})
        self.names, self.places = list(names), list[Path]()

    def find_image(self, name: str) -> ImageInfo | None:
        return ImageInfo(name, f"sha256:{name}") if name in self.names else None

    def make(self, name: str) -> Callable[[Path, Path], None]:
        def make(scratch: Path, log: Path) -> None:
            assert list(scratch.iterdir()) == []
            log.write_text("made")
            self.places.append(scratch)
            self.names.append(name)

        return make


def test_a_missing_image_is_made_once_by_all_who_want_it(tmp_path: Path) -> None:
    images, notes = Images(), []
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: ensure("a/b:1", images, tmp_path, images.make("a/b:1"), notes.append), range(4)))
    assert images.names == ["a/b:1"]
    assert notes[0] == "building a/b:1"
    assert notes[1].startswith("built a/b:1 in ")
    assert len(notes) == 2
    assert (tmp_path / "logs/a-b-1.log").read_text() == "made"
    assert not images.places[0].exists()


def test_an_image_on_the_engine_is_not_made(tmp_path: Path) -> None:
    images = Images(["a/b:1"])
    ensure("a/b:1", images, tmp_path, images.make("a/b:1"))
    assert images.names == ["a/b:1"]


def test_a_note_that_raises_prevents_the_build(tmp_path: Path) -> None:
    def stop(_line: str) -> None:
        raise InterruptedError

    images = Images()
    with pytest.raises(InterruptedError):
        ensure("a/b:1", images, tmp_path, images.make("a/b:1"), stop)
    assert images.names == []


def test_a_build_that_failed_is_not_tried_again_by_those_who_share_it(tmp_path: Path) -> None:
    tries, notes, failures = [], [], SharedFailures()

    def fail(_scratch: Path, log: Path) -> None:
        tries.append(log)
        raise EnvironmentFailure("no such package", log_path=str(log), tail="the last lines")

    def ask(_number: int) -> EnvironmentFailure:
        with pytest.raises(EnvironmentFailure) as caught:
            ensure("a/b:1", Images(), tmp_path, fail, notes.append, failures)
        return caught.value

    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(ask, range(40)))

    assert len(tries) == 1
    assert notes == ["building a/b:1"]
    assert {(str(each), each.log_path, each.tail) for each in said} == {
        (f"no such package (log: {tries[0]})", str(tries[0]), "the last lines")
    }
    with pytest.raises(EnvironmentFailure):  # a later run has failures of its own
        ensure("a/b:1", Images(), tmp_path, fail, failures=SharedFailures())
    assert len(tries) == 2


@pytest.mark.parametrize(
    ("failure", "next_step"), [(EngineError("it restarts"), "a/b:1"), (EnvironmentFailure("no such package"), "a/b:2")]
)
def test_a_failure_of_the_engine_is_tried_again_and_no_failure_stops_another_step(
    failure: Exception, next_step: str
) -> None:
    failures = SharedFailures()
    with pytest.raises(type(failure)), failures.step("a/b:1"):
        raise failure
    with failures.step(next_step):
        pass
