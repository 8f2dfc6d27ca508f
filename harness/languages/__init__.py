"""Programming languages: one module each.

A new language is one module that satisfies ``base.Language`` and a name in ``_OWN``. Another distribution
registers its module as an entry point of the group ``assay.languages``.
"""

from assay.harness.errors import UserError
from assay.harness.languages import c, cpp, go, java, javascript, kotlin, php, python, ruby, rust, typescript
from assay.harness.languages.base import Language, load_grammar
from assay.harness.plugins import Registry

__all__ = ["LANGUAGES", "Language", "find", "find_or_none", "load_grammar"]

_OWN: tuple[Language, ...] = (python, java, kotlin, typescript, javascript, go, rust, c, cpp, php, ruby)
LANGUAGES = Registry[Language]("language", "assay.languages", {each.NAME: each for each in _OWN}, needs=Language)
find = LANGUAGES.find


def find_or_none(name: str) -> Language | None:
    """Return the language of that name; None if it is not supported. Rows and logs of any language can be read."""
    try:
        return find(name)
    except UserError:
        return None
