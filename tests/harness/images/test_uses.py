"""Images that processes hold, and when each was used last."""

import subprocess
import sys
from pathlib import Path

import pytest

from assay.harness.engines.base import ImageInfo
from assay.harness.images.uses import Uses
from stocked import IMAGES, engine_with

NAME, OTHER = "assay/instance-b__lib:1", "assay/instance-b__lib:2"


@pytest.fixture
def uses(tmp_path: Path) -> Uses:
    return Uses(tmp_path / "uses")


def test_what_is_held_is_not_removed(uses):
    engine = engine_with(IMAGES)

    with uses.hold() as hold:
        hold.add(NAME)
        assert not uses.remove(engine, NAME)
        assert engine.find_image(NAME)
    assert uses.remove(engine, NAME)
    assert engine.find_image(NAME) is None


def test_an_image_that_two_tasks_hold_stays_until_both_end(uses):
    with uses.hold() as first:
        first.add(NAME, OTHER)
        with uses.hold() as second:
            second.add(NAME, NAME)
        assert uses.find_held() == {NAME, OTHER}
    assert uses.find_held() == set()


HOLDER = """
import sys
from pathlib import Path
from assay.harness.images.uses import Uses
with Uses(Path(sys.argv[1])).hold() as hold:
    hold.add("assay/instance-b__lib:1")
    print("held", flush=True)
    sys.stdin.read()
"""


def test_another_process_holds_an_image_until_it_ends_however_it_ends(uses, tmp_path):
    engine = engine_with(IMAGES)
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "uses")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert not uses.remove(engine, NAME)
        holder.kill()
    assert uses.remove(engine, NAME)
    assert not list((tmp_path / "uses").glob("*.held"))


def test_the_last_use_is_the_end_of_the_last_hold(uses):
    image = ImageInfo(NAME, "sha256:1", created="1700000000")
    assert uses.last_used(image) == 1700000000

    with uses.hold() as hold:
        hold.add(NAME)
        begun = uses.last_used(image)
    assert uses.last_used(image) >= begun > 1700000000


def test_an_image_without_any_date_counts_as_old(uses):
    assert uses.last_used(ImageInfo(NAME, "sha256:1", created="2026-01-01T00:00:00Z")) == 0
