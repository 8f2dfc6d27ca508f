"""Container engines by name; a back end is imported when it is opened.

To add one, write a module with the two protocols of ``base`` and name it here, or pass ``package.module:attribute``.
"""

from assay.harness.engines.base import ActingEngine, Box, Engine, ExecResult, ImageInfo
from assay.harness.plugins import resolve

ENGINES = {
    "apptainer": "assay.harness.engines.apptainer:open_engine",
    "docker": "assay.harness.engines.docker:open_engine",
    "fake": "assay.harness.engines.fake:open_engine",
}


def open_engine(name: str) -> Engine:
    """Open an engine by its name: a key of ``ENGINES``, an entry point or a ``module:attribute`` of a factory.

    Raises:
        PluginError: no such engine. EngineUnavailable: it does not answer.
    """
    engine: Engine = resolve("engine", name, ENGINES)()
    return engine


__all__ = ["ENGINES", "ActingEngine", "Box", "Engine", "ExecResult", "ImageInfo", "open_engine"]
