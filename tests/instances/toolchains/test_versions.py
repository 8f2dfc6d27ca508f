import pytest

from assay.harness.errors import UserError
from assay.harness.languages import LANGUAGES
from assay.instances.toolchains.versions import versions_of


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_default_version_of_a_language_comes_from_debian(language: str) -> None:
    known = versions_of(language)
    assert known.versions[known.default].suite
    assert known.versions[known.default].packages


def test_an_unknown_language_has_no_versions() -> None:
    with pytest.raises(UserError, match="cobol"):
        versions_of("cobol")
