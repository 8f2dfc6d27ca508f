from datetime import UTC, datetime
from pathlib import Path

import pytest

from assay.instances.setup.project import LONGEST, detect_language, read_project
from saved_images import make_tar


def test_manifests_are_read_and_sources_are_not(tmp_path: Path) -> None:
    files = {
        "setup.py": b"setup()",
        "calc.py": b"code",
        ".github/workflows/ci.yml": b"jobs",
        "a/b/c/d/setup.cfg": b"too deep",
        "README.md": b"x" * (LONGEST + 1),
        "tox.ini": b"\xff",
    }
    packed = tmp_path / "tree.tar"
    packed.write_bytes(make_tar(files))
    found = read_project("acme/calc", packed, datetime.now(UTC))
    assert found.language == "python"
    assert set(found.paths) == set(files)
    assert found.texts == {"setup.py": "setup()", ".github/workflows/ci.yml": "jobs", "tox.ini": "\ufffd"}
    assert (found.text("setup.py"), found.text("calc.py")) == ("setup()", "")
    assert [path for path, _ in found.matching("*.ini", "*.yml")] == [".github/workflows/ci.yml", "tox.ini"]


@pytest.mark.parametrize(
    ("paths", "language"),
    [
        (["go.mod", "a.go", "b.py", "c.py"], "go"),
        (["Cargo.toml", "src/lib.rs", "gen.py"], "rust"),
        (["package.json", "tsconfig.json", "src/a.ts"], "typescript"),
        (["package.json", "lib/a.js"], "javascript"),
        (["composer.json", "src/A.php"], "php"),
        (["Gemfile", "lib/a.rb"], "ruby"),
        (["pom.xml", "src/main/java/A.java"], "java"),
        (["pom.xml", "src/main/kotlin/A.kt", "src/main/kotlin/B.kt", "src/main/java/C.java"], "kotlin"),
        (["build.gradle.kts", "src/main/kotlin/A.kt"], "kotlin"),
        (["CMakeLists.txt", "src/a.cpp", "src/b.cpp"], "cpp"),
        (["Makefile", "src/a.c", "src/b.c"], "c"),
        (["a.py", "b.py"], "python"),
    ],
)
def test_language_is_that_of_most_sources_with_a_manifest(paths: list[str], language: str) -> None:
    assert detect_language(paths) == language
