"""Tables of tests, which stand in a YAML file beside them."""

from pathlib import Path
from typing import Any

import yaml


def read_tables(module: str) -> Any:
    """Read the file of a test module's name without ``test_``; ``module`` is its ``__file__``."""
    return yaml.safe_load(Path(module).with_name(f"{Path(module).stem.removeprefix('test_')}.yaml").read_text("utf-8"))
