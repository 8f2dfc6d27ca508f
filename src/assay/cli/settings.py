"""The options of a command as settings, with the values that each may have in a TOML file and in a variable."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from functools import cache
from inspect import unwrap
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
"""Texts of a variable that switch an option on or off."""
NAMES = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text in quotes",
    Path: "a path in quotes",
    datetime: "a date such as 2023-09-30",
}


@dataclass(frozen=True, slots=True)
class Setting:
    parameter: str
    """Name of the command's parameter."""
    kind: Any
    """Type of the value, or of each value."""
    many: bool
    """Whether the option may be repeated."""
    least: float | None = None
    most: float | None = None

    def parse_toml(self, value: object) -> Any:
        """Check a value of a file for the parser; raises ValueError with the values that are right."""
        if not self.many:
            return self._one(value)
        return [self._one(each) for each in (value if isinstance(value, list) else [value])]

    def parse_text(self, text: str) -> Any:
        """Read a variable; several values are separated by spaces, or paths by colons. Raises ValueError."""
        if not self.many:
            return self._one(_parse(self.kind, text))
        parts = text.split(os.pathsep) if self.kind is Path else text.split()
        return [self._one(_parse(self.kind, each)) for each in parts if each]

    def _one(self, value: object) -> Any:
        if self.kind is datetime and isinstance(value, date):
            value = value.isoformat()[:10]
        if not self._fits(value):
            raise ValueError(f"is {value!r}; write {self.wanted}")
        return str(Path(str(value)).expanduser()) if self.kind is Path else value

    def _fits(self, value: object) -> bool:
        if issubclass(self.kind, Enum):
            return value in [each.value for each in self.kind]
        if self.kind in {int, float}:
            if isinstance(value, bool) or not isinstance(value, int if self.kind is int else int | float):
                return False
            return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)
        if self.kind is datetime:
            return isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value) is not None
        return isinstance(value, bool if self.kind is bool else str)

    @property
    def wanted(self) -> str:
        """The values that are right, in words."""
        if issubclass(self.kind, Enum):
            return " or ".join(", ".join(str(each.value) for each in self.kind).rsplit(", ", 1))
        least = "" if self.least is None else f" of at least {self.least:g}"
        return NAMES[self.kind] + least + ("" if self.most is None else f", at most {self.most:g}")


def get_settings(command: Any) -> Mapping[str, Setting]:
    """Return the options of a command by key, which is the longest name with underscores."""
    return _get_settings(unwrap(command.callback), tuple((each.name, *each.opts) for each in command.params))


@cache
def _get_settings(function: Callable[..., Any], parameters: tuple[tuple[str, ...], ...]) -> Mapping[str, Setting]:
    hints = get_type_hints(function, include_extras=True)
    found = {}
    for parameter, *names in parameters:
        longest = max(names, key=len)
        if longest.startswith("--") and parameter in hints:
            found[longest[2:].replace("-", "_")] = _setting(parameter, hints[parameter])
    return found


def _setting(parameter: str, hint: Any) -> Setting:
    about = next(each for each in hint.__metadata__ if hasattr(each, "param_decls"))
    kind = next((each for each in get_args(hint.__origin__) if each is not NoneType), hint.__origin__)
    many = get_origin(hint.__origin__) is list or get_origin(kind) is list
    if get_origin(kind) is list:
        (kind,) = get_args(kind)
    return Setting(parameter, kind, many, about.min, about.max)


def _parse(kind: Any, text: str) -> object:
    """Return the value that a file would hold, or the text itself if it is not of this kind."""
    if kind is bool:
        return WORDS.get(text.lower(), text)
    if kind in {int, float}:
        try:
            return kind(text)
        except ValueError:
            return text
    return text
