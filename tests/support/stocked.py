"""An engine with some images and without containers, as ``--engine stocked:open_engine``."""

from assay.harness.engines.base import ImageInfo, ImageLayer
from assay.harness.engines.fake import FakeEngine, FakeImage

OS = {"os": 100_000_000}
ENV = {**OS, "env": 40_000_000}
IMAGES: dict[str, tuple[str, str, dict[str, int]]] = {
    "assay/toolchain-python:3": ("toolchain", "", OS),
    "assay/env-python:1": ("environment", "", ENV),
    "assay/instance-b__lib:1": ("instance", "b/lib", {**ENV, "b1": 3_000_000}),
    "assay/instance-b__lib:2": ("instance", "b/lib", {**ENV, "b2": 5_000_000}),
    "assay/instance-a__app:1": ("instance", "a/app", {**OS, "a1": 70_000_000}),
}
"""Name to kind, repository, and layers with their bytes, the lowest first."""


def engine_with(images: dict[str, tuple[str, str, dict[str, int]]]) -> FakeEngine:
    """Return an engine with images."""
    engine = FakeEngine({})
    for name, (kind, repo, layers) in images.items():
        labels = {"assay.kind": kind, **({"assay.repo": repo} if repo else {"assay.language": "python"})}
        info = ImageInfo(name, f"sha256:{name}", sum(layers.values()), "1700000000", labels)
        engine.stock[name] = FakeImage(info, tuple(ImageLayer(*each) for each in layers.items()))
    return engine


opened = engine_with(IMAGES)
"""The engine that commands open; a test that changes it puts another one here."""


def open_engine() -> FakeEngine:
    """Return the engine of the test."""
    return opened
