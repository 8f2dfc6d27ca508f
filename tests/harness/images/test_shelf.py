"""Images that are fetched before they are built, sent when they are, and removed when the disk is short."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assay.harness.engines.fake import FakeEngine
from assay.harness.errors import EngineError, ImageMissing, UserError
from assay.harness.images.registry import ImageRegistry, parse_prefix
from assay.harness.images.shelf import Shelf
from assay.harness.images.stock import StockTaker
from assay.harness.images.uses import Uses
from stocked import IMAGES, engine_with

NAME = "assay/instance-b__lib:1"
HOST = "host:5000/team"


@pytest.fixture
def engine() -> FakeEngine:
    return engine_with(IMAGES)


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def make_shelf(tmp_path: Path, notes: list[str]):
    def make(engine: FakeEngine, pushes: bool = False, limit: int | None = None) -> Shelf:
        registry = ImageRegistry(engine, tmp_path / "moving", HOST, pushes, notes.append)
        return Shelf(engine, Uses(tmp_path / "uses"), registry, limit, notes.append)

    return make


def break_call(engine: FakeEngine, call: str, error: EngineError, image: str = "") -> None:
    """Let one call of the engine fail, on one image or on any."""

    def fault(called: str, on: str) -> None:
        if called == call and image in ("", on):
            raise error

    engine.fault = fault


def test_an_image_is_built_once_and_pulled_elsewhere(engine, make_shelf):
    make_shelf(engine, pushes=True).record_built(NAME)
    other = FakeEngine({}, registry=engine.registry)
    shelf = make_shelf(other)

    assert shelf.has(NAME)
    assert not shelf.has("assay/instance-b__lib:2")
    assert shelf.pulled == [NAME]
    # Its own name is the only one that stays, on both engines.
    assert list(other.stock) == [NAME]
    assert set(engine.stock) == set(IMAGES)


def test_nothing_is_sent_unless_it_is_wanted(engine, make_shelf):
    make_shelf(engine).record_built(NAME)

    assert engine.registry == {}


def test_an_image_that_cannot_be_sent_is_there_all_the_same(engine, make_shelf, notes):
    break_call(engine, "push", EngineError(f"{HOST}/{NAME} cannot be pushed: denied"))
    shelf = make_shelf(engine, pushes=True)
    shelf.record_built(NAME)

    assert (shelf.built, shelf.unsent) == ([NAME], 1)
    assert notes == [f"{HOST}/{NAME} cannot be pushed: denied"]


def test_a_registry_that_does_not_answer_is_an_engine_failure(engine, make_shelf):
    break_call(engine, "pull", ImageMissing("the image cannot be pulled: connection refused"))
    with pytest.raises(EngineError, match=r"registry host:5000/team: .*connection refused"):
        make_shelf(engine).has("assay/instance-b__lib:9")


def test_an_image_that_assay_did_not_make_is_refused(engine, make_shelf):
    engine.registry[f"{HOST}/{NAME}"] = engine_with({NAME: ("", "", {"x": 1})}).stock[NAME]
    stranger = engine.registry[f"{HOST}/{NAME}"]
    object.__setattr__(stranger.info, "labels", {})
    engine.remove_image(NAME)

    with pytest.raises(EngineError, match="is no image of Assay"):
        make_shelf(engine).has(NAME)
    assert NAME not in engine.stock


def test_room_is_made_when_an_image_is_added(engine, make_shelf, notes):
    shelf = make_shelf(engine, limit=145_000_000)

    with shelf.uses.hold() as hold:
        hold.add(NAME)
        shelf.record_built(NAME)

    assert StockTaker(engine).take().size == 143_000_000
    assert NAME in engine.stock
    assert "removed assay/instance-a__app:1" in notes


def test_a_limit_that_cannot_hold_what_is_in_use_says_so(engine, make_shelf):
    shelf = make_shelf(engine, limit=100_000_000)

    with shelf.uses.hold() as hold:
        hold.add(NAME)
        with pytest.raises(EngineError) as refused:
            shelf.record_built(NAME)
    said = "the images in use take 143 MB, and --disk allows 100 MB: allow more, or lower --jobs"
    assert str(refused.value) == said


def test_an_image_that_the_engine_does_not_remove_stays_and_is_named(engine, make_shelf, notes):
    break_call(engine, "remove_image", EngineError("a container runs on it"), "assay/instance-a__app:1")
    with pytest.raises(EngineError, match="the images in use take 170 MB"):
        make_shelf(engine, limit=10_000_000).make_room()
    assert list(engine.stock) == ["assay/instance-a__app:1"]
    assert "assay/instance-a__app:1 stays: a container runs on it" in notes


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("127.0.0.1:5000", "127.0.0.1:5000"),
        ("localhost/assay/", "localhost/assay"),
        ("https://registry.example:5000/team/a", "registry.example:5000/team/a"),
        ("ghcr.io/owner", "ghcr.io/owner"),
    ],
)
def test_an_address_is_a_host_and_a_prefix(text, prefix):
    assert parse_prefix(text) == prefix


@pytest.mark.parametrize("text", ["", "team/assay", "host:5000/Team", "host:5000/a b", "ftp://host/x"])
def test_what_an_engine_would_take_for_something_else_is_no_address(text):
    with pytest.raises(UserError, match="is no address; write HOST:PORT"):
        parse_prefix(text)


def test_what_builds_left_goes_only_where_disk_is_limited(engine, make_shelf, notes):
    calls: list[str] = []
    engine.fault = lambda call, _image: calls.append(call)

    make_shelf(engine).record_built(NAME)
    assert "drop_build_cache" not in calls
    make_shelf(engine, limit=10**12).record_built(NAME)
    assert calls.count("drop_build_cache") == 1
    assert notes == ["dropping the build cache", "dropped 0 MB of the build cache"]
    assert make_shelf(engine).remove(StockTaker(engine).take().images)
    assert calls.count("drop_build_cache") == 2


def test_threads_that_want_one_image_fetch_it_once(engine, make_shelf, notes):
    make_shelf(engine, pushes=True).record_built(NAME)
    pulls: list[str] = []

    def note(call: str, _image: str) -> None:
        if call == "pull":
            pulls.append(call)

    other = FakeEngine({}, registry=engine.registry, fault=note)
    shelf = make_shelf(other)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(shelf.has, [NAME] * 8))
    assert pulls == ["pull"]
    assert list(other.stock) == [NAME]
