"""Toolchain images of the tests: those of a run are built side by side, and each once for all workers."""

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import pytest

from assay.harness.domain import Recipe
from assay.harness.engines.base import Engine
from assay.harness.errors import EnvironmentFailure
from assay.harness.files import default_cache
from assay.instances.toolchains.ensure import ensure
from assay.instances.toolchains.images import find_toolchain
from assay.instances.toolchains.make import make_toolchain

BOOTSTRAPPED = {"sources": {"order": "bootstrap"}}
"""Settings by which images are the same where a registry answers."""


def toolchain_image(engine: Engine, language: str = "python", version: str = "") -> str:
    """Return the name of a toolchain image, which is on the engine then; raises EnvironmentFailure."""
    wanted = find_toolchain(Recipe(language=language, toolchain=version), BOOTSTRAPPED, engine)
    ensure(wanted.name, engine, default_cache(), partial(make_toolchain, wanted, engine))
    return wanted.name


def make_toolchains(engine: Engine, items: Iterable[pytest.Item]) -> None:
    """Build the images that tests ask for with ``pytest.mark.toolchain``; one that fails is left to its tests."""

    def make(mark: tuple[str, str]) -> None:
        with suppress(EnvironmentFailure):
            toolchain_image(engine, *mark)

    marks = {mark.args for item in items for mark in item.iter_markers("toolchain")}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(make, sorted(marks)))
