import pytest

from assay.instances.dataset.formats import FORMATS, write
from assay.instances.dataset.formats.languages import UNKNOWN, guess_language
from samples import read


def _changes(*paths: str) -> str:
    return "".join(f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-old\n+new\n" for path in paths)


def test_a_row_without_parser_and_language_gets_the_language_of_its_files() -> None:
    go = "--- a/x.go\n+++ b/x.go\n"
    instance = read("swebench", patch=go, test_patch=go)
    assert (instance.language, instance.log_format) == ("go", "")


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
    assert guess_language("acme/shop", _changes(*paths)) == language


@pytest.mark.parametrize(
    ("dialect", "column", "spelled", "language"),
    [
        ("swebench", "language", "C++", "cpp"),
        ("swebench-live", "language", "C++", "cpp"),
        ("swe-rebench", "language", "js", "javascript"),
        ("swe-smith", "language", "Python", "python"),
        ("nocode-bench", "language", "Python", "python"),
        ("polybench", "language", "Typescript", "typescript"),
        ("multi-swe-bench", "lang", "ts", "typescript"),
    ],
)
def test_a_row_is_written_with_its_own_spelling_of_the_language(
    dialect: str, column: str, spelled: str, language: str
) -> None:
    instance = read(dialect, 0, **{column: spelled})
    assert instance.language == language
    assert write(FORMATS[dialect], instance)[column] == spelled
