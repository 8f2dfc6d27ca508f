"""Programming languages: one module each.

A new language is one module that satisfies ``base.Language`` and one line in ``LANGUAGES``. Another distribution
registers its module as an entry point of the group ``assay.languages``.
"""

from assay.harness.errors import UserError
from assay.harness.languages import c, cpp, go, java, javascript, kotlin, php, python, ruby, rust, typescript
from assay.harness.languages.base import Language, load_grammar

__all__ = ["LANGUAGES", "Language", "find", "find_or_none", "load_grammar"]

LANGUAGES: dict[str, Language] = {
    python.NAME: python,
    java.NAME: java,
    kotlin.NAME: kotlin,
    typescript.NAME: typescript,
    javascript.NAME: javascript,
    go.NAME: go,
    rust.NAME: rust,
    c.NAME: c,
    cpp.NAME: cpp,
    php.NAME: php,
    ruby.NAME: ruby,
}


def find(name: str) -> Language:
    """Return the language of that name.

    Raises:
        UserError: it is not supported; the message names those that are.
    """
    if name not in LANGUAGES:
        from assay.harness import plugins

        LANGUAGES[name] = plugins.find_registered("language", name, LANGUAGES)
    return LANGUAGES[name]


def find_or_none(name: str) -> Language | None:
    """Return the language of that name; None if it is not supported. Rows and logs of any language can be read."""
    try:
        return find(name)
    except UserError:
        return None
