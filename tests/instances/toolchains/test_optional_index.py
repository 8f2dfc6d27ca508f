"""Whether an index answers, asked at addresses of this machine."""

from pathlib import Path

import pytest

from assay.instances.toolchains import optional_index
from local_indexes import serve, write_composer_repository, write_gem_index


@pytest.fixture(autouse=True)
def _forget_answers() -> None:
    optional_index._answers.cache_clear()


@pytest.mark.parametrize(("language", "variable"), [("ruby", "BUNDLE_MIRROR__ALL"), ("php", "COMPOSER_MIRROR")])
def test_an_index_answers_or_does_not(
    language: str, variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "*")
    with serve(tmp_path) as url:
        monkeypatch.setenv(variable, f"{url}/")
        assert optional_index.index_answers(language) is False
        optional_index._answers.cache_clear()
        write_gem_index(tmp_path)
        write_composer_repository(tmp_path, url)
        assert optional_index.index_answers(language) is True


def test_a_language_that_needs_its_index_is_not_asked() -> None:
    assert optional_index.index_answers("rust") is None
