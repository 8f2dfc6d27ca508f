"""Container engines by name; a back end is imported when it is opened.

To add one, write a module with the two protocols of ``base`` and name it here, or pass ``package.module:attribute``.
"""

from collections.abc import Iterable

from assay.harness.domain import Instance
from assay.harness.engines.base import Box, Engine, ExecResult, ImageInfo
from assay.harness.plugins import resolve

ENGINES = {
    "docker": "assay.harness.engines.docker:open_engine",
    "fake": "assay.harness.engines.fake:open_engine",
}


def open_engine(name: str, instances: Iterable[Instance] = ()) -> Engine:
    """Open an engine by its name.

    Args:
        name: a key of ``ENGINES`` or a ``module:attribute`` of a factory.
        instances: what will be run, for engines that act them out (``fake``).

    Raises:
        PluginError: no such engine. EngineUnavailable: it does not answer.
    """
    engine: Engine = resolve("engine", name, ENGINES)(instances)
    return engine


__all__ = ["ENGINES", "Box", "Engine", "ExecResult", "ImageInfo", "open_engine"]
