from collections.abc import Mapping

import pytest

from assay.harness.engines.base import ImageInfo
from assay.harness.engines.fake import FakeEngine
from assay.instances.environments.drift import REBUILT, LayerState, LayerStatus, compare_layer, drop_inherited
from assay.instances.environments.images_lock import Layer, Lock, add_contents

HELD = {"debian": "git 2.39\nlibc6 2.36\n", "commit": "HEAD 1234\n", "locked/Cargo.lock": "version = 4\n"}
LABELS = {"assay.kind": "environment"}


def locked(**changes: object) -> Lock:
    layer = Layer(name="assay/env:1", dockerfile="FROM x", labels=LABELS).model_copy(update=changes)
    return add_contents(Lock(layers={layer.name: layer}), {layer.name: ("sha256:1", HELD)})


class OneImage(FakeEngine):
    """Has one image, or none."""

    def __init__(self, digest: str, labels: Mapping[str, str] = LABELS) -> None:
        super().__init__({})
        self.info = ImageInfo("assay/env:1", digest, labels=labels) if digest else None

    def find_image(self, name: str) -> ImageInfo | None:
        return self.info if name == "assay/env:1" else None


def state(engine: FakeEngine, now: Mapping[str, str] = HELD, lock: Lock | None = None, **options: bool) -> LayerState:
    lock = lock or locked()
    return compare_layer(next(iter(lock.layers.values())), lock, engine, lambda _layer: now, **options)


def test_an_image_that_the_engine_lacks_is_missing() -> None:
    assert state(OneImage("")).status is LayerStatus.MISSING


def test_the_locked_digest_is_enough() -> None:
    assert state(OneImage("sha256:1"), now={}) == LayerState(image="assay/env:1", status=LayerStatus.SAME)


def test_another_build_of_the_same_content_is_no_difference_unless_exact() -> None:
    again = OneImage("sha256:2", {**LABELS, REBUILT: "1"})
    assert state(again).status is LayerStatus.REBUILT
    exact = state(again, exact=True)
    assert (exact.status, exact.differences) == (
        LayerStatus.DIFFERS,
        ("its digest is sha256:2, locked is sha256:1",),
    )


@pytest.mark.parametrize(
    ("name", "text", "difference"),
    [
        ("debian", "git 2.39\nlibc6 2.40\n", "debian: libc6 is 2.40, locked is 2.36"),
        ("debian", "git 2.39\n", "debian: libc6 is missing, locked is 2.36"),
        ("debian", "curl 8\ngit 2.39\nlibc6 2.36\n", "debian: curl is 8, locked is nothing"),
        ("commit", "HEAD 5678\n", "commit: HEAD is 5678, locked is 1234"),
        ("locked/Cargo.lock", "version = 3\n", "locked/Cargo.lock is another text"),
    ],
)
def test_each_thing_that_an_image_holds_otherwise_is_a_difference(name: str, text: str, difference: str) -> None:
    found = state(OneImage("sha256:2"), {**HELD, name: text})
    assert (found.status, found.differences) == (LayerStatus.DIFFERS, (difference,))


def test_another_label_is_a_difference() -> None:
    found = state(OneImage("sha256:2", {"assay.kind": "instance"}))
    assert found.differences == ("its label assay.kind is 'instance', locked is 'environment'",)


def test_labels_of_the_parent_are_no_difference() -> None:
    base = Layer(name="assay/base:1", labels={"assay.language": "python", "assay.kind": "toolchain"})
    lock = locked(parent=base.name)
    lock = lock.model_copy(update={"layers": {**lock.layers, base.name: base}})
    inherited = OneImage("sha256:2", {**LABELS, "assay.language": "python", "org.example": "x"})
    assert state(inherited, lock=lock).differences == ()
    assert state(OneImage("sha256:2"), lock=lock).differences == ("its label assay.language is '', locked is 'python'",)


def test_an_image_that_the_user_named_has_to_have_its_digest() -> None:
    users = Lock(layers={"assay/env:1": Layer(name="assay/env:1", below="sha256:1")})
    assert state(OneImage("sha256:1", {}), lock=users).status is LayerStatus.SAME
    assert state(OneImage("sha256:2", {}), lock=users).differences == ("its digest is sha256:2, locked is sha256:1",)


def test_a_difference_is_shown_once_at_the_lowest_image_that_has_it() -> None:
    layers = {name: Layer(name=name, parent=parent) for name, parent in (("base", ""), ("env", "base"), ("top", "env"))}
    states = [
        LayerState(image="base", status=LayerStatus.DIFFERS, differences=("libc6",)),
        LayerState(image="env", status=LayerStatus.DIFFERS, differences=("libc6", "flask")),
        LayerState(image="top", status=LayerStatus.DIFFERS, differences=("libc6",)),
    ]
    found = drop_inherited(states, Lock(layers=layers))
    assert [each.differences for each in found] == [("libc6",), ("flask",), ()]
    assert [each.status for each in found] == [LayerStatus.DIFFERS] * 3
