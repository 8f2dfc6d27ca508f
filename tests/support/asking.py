"""Projects whose fix asks for a package that the base commit does not ask for, in several languages."""

from pathlib import Path

import yaml

from languages.hello import Hello

_TABLE = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
OTHER_PACKAGE: dict[str, dict[str, str]] = {
    language: each.pop("other_package") for language, each in _TABLE.items() if "other_package" in each
}
"""A patch for most of them that needs still another package."""
PROJECTS = {language: Hello.model_validate(each) for language, each in _TABLE.items()}
"""For each language a project whose fix needs a package that the base commit does not ask for."""
