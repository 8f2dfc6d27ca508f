"""What each language says of paths and ids: ``tables/<language>.yaml``, by member of the module.

``true`` and ``false`` list paths for which a function holds or a pattern matches.
"""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

import pytest

from assay.harness.languages import LANGUAGES
from language_tables import TABLES


def cases() -> Iterator[tuple[str, str, Any, Any]]:
    for language, members in TABLES.items():
        for member, table in members.items():
            if member == "definitions":
                continue  # test_syntax
            if member == "test_targets":
                yield from ((language, member, each["files"], tuple(each["targets"])) for each in table)
            elif member in {"normalise", "stands_in"}:
                yield from ((language, member, given, answer) for given, answer in table.items())
            else:
                yield from ((language, member, path, answer) for answer, paths in table.items() for path in paths)


@pytest.mark.parametrize(("language", "member", "given", "answer"), list(cases()))
def test_answers(language: str, member: str, given: Any, answer: Any) -> None:
    module = LANGUAGES[language]
    if member == "BUILD_PRODUCTS":
        assert any(fnmatchcase(given, pattern) for pattern in module.BUILD_PRODUCTS) is answer
    else:
        assert getattr(module, member)(given) == answer


def test_every_language_has_a_table() -> None:
    assert set(TABLES) == set(LANGUAGES)
