from pathlib import Path

import pytest

from assay.harness.errors import UserError
from assay.harness.languages import LANGUAGES
from assay.instances.toolchains.versions import load_versions

DOCS = Path(__file__).parents[3] / "docs/languages.md"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_default_version_of_a_language_comes_from_debian(language: str) -> None:
    known = load_versions(language)
    assert known.versions[known.default].suite
    assert known.versions[known.default].packages


def test_an_unknown_language_has_no_versions() -> None:
    with pytest.raises(UserError, match="cobol"):
        load_versions("cobol")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_versions_of_a_language_are_in_the_docs(language: str) -> None:
    rows = [line.replace("*", "") for line in DOCS.read_text().splitlines() if line.startswith("| ")]
    versions = ", ".join(name for name, version in load_versions(language).versions.items() if version.suite)
    assert any(versions in row.split("|")[2] for row in rows), versions
