"""The texts of a module, in a table beside it: what a model is asked is written, not computed."""

import tomllib
from pathlib import Path


def read_texts(module: str) -> dict[str, str]:
    """Read the TOML file of a module's name; ``module`` is its ``__file__``."""
    return tomllib.loads(Path(module).with_suffix(".toml").read_text(encoding="utf-8"))
