"""The commands of build tools, from ``build_tools.yaml``."""

from functools import cache
from pathlib import Path
from typing import Any

from assay.harness.files import read_yaml


def fill_commands(tool: str, target: str, folder: str = ".") -> dict[str, Any]:
    """Return a tool's commands as fields of a recipe, with the target that runs the tests."""

    def fill(text: str) -> str:
        return text.replace("@FOLDER@", folder).replace("@TARGET@", target)

    fields = _load_tools()[tool].items()
    return {name: tuple(map(fill, value)) if isinstance(value, list) else fill(value) for name, value in fields}


@cache
def _load_tools() -> dict[str, dict[str, Any]]:
    return dict(read_yaml(Path(__file__).with_suffix(".yaml")))
