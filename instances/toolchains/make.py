"""Makes a toolchain image, from whatever source it has."""

from pathlib import Path

from assay.harness.engines.base import Engine
from assay.harness.errors import EnvironmentFailure, ImageMissing
from assay.instances.toolchains.bootstrap import bootstrap
from assay.instances.toolchains.images import Toolchain


def make_toolchain(wanted: Toolchain, engine: Engine, scratch: Path, log: Path) -> None:
    """Make a toolchain image from packages, or over the language's public image; raises EnvironmentFailure."""
    if not wanted.image:
        bootstrap(wanted, engine, scratch, log)
        return
    if engine.find_image(wanted.image) is None:
        try:
            engine.pull(wanted.image)
        except ImageMissing as error:
            raise EnvironmentFailure(str(error)) from error
    context = scratch / "context"
    context.mkdir()
    (context / "Dockerfile").write_text(wanted.script, encoding="utf-8")
    engine.build(wanted.name, context, log, secrets={}, labels=wanted.labels)
