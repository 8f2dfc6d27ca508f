"""Templates of text files, programs among them, and tables, beside the modules that use them."""

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


def text_environment(package: str, folder: str = "templates") -> "Environment":
    """Return the Jinja2 environment of a package's folder: nothing is escaped, and unknown names are errors."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(package, folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def read_program(module: str, name: str, **words: object) -> str:
    """Read a file by its path from the folder of a module (``__file__``); ``@WORD@`` stands for one of the words."""
    text = (Path(module).parent / name).read_text(encoding="utf-8")
    for word, value in words.items():
        text = text.replace(f"@{word}@", str(value))
    return text


def read_table(module: str, name: str = "") -> dict[str, Any]:
    """Read a TOML file by its path from the folder of a module (``__file__``), or else the one of the module's name."""
    path = Path(module).parent / name if name else Path(module).with_suffix(".toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
