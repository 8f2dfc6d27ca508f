"""Programming languages: one module each.

A new language is one module that satisfies ``base.Language`` and one line in ``LANGUAGES``.
"""

from assay.harness.errors import UserError
from assay.harness.languages import python
from assay.harness.languages.base import Language

__all__ = ["LANGUAGES", "Language", "find"]

LANGUAGES: dict[str, Language] = {
    python.NAME: python,
}


def find(name: str) -> Language:
    """Return the language of that name.

    Raises:
        UserError: it is not supported; the message names those that are.
    """
    try:
        return LANGUAGES[name]
    except KeyError:
        raise UserError(f"unknown language {name!r}; known are {', '.join(sorted(LANGUAGES))}") from None
