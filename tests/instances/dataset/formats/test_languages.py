import pytest

from assay.instances.dataset.formats.languages import UNKNOWN, guess_language
from changes import change


@pytest.mark.parametrize(
    ("paths", "language"),
    [
        (["pom.xml", "shop/pom.xml"], "java"),
        (["Cargo.toml", "Cargo.lock"], "rust"),
        (["pom.xml", "tools/release.py"], "python"),
        (["README.md", "CHANGES.txt"], UNKNOWN),
    ],
)
def test_project_files_decide_the_language_only_where_no_source_file_does(paths: list[str], language: str) -> None:
    assert guess_language("acme/shop", "".join(map(change, paths))) == language
