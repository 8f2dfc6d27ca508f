"""Classes of tripwires in Java and Kotlin, and where they are put."""

import random
from pathlib import Path

import pytest

from assay.harness.domain import Status
from assay.harness.runners.jvm import LANGUAGES, tripwires
from placed_tripwires import Placed, put

IMPORTS = {
    "junit5": ("import org.junit.jupiter.api.Test", "org.junit.jupiter.api.Assertions."),
    "testng": ("import org.testng.annotations.Test", "org.testng.Assert."),
    "junit4": ("import static org.junit.Assert.assertEquals", "org.junit.Assert."),
    "junit3": ("import junit.framework.TestCase", "junit.framework.Assert."),
}
"""For each framework what a test file imports, and what stands before the names of its assertions."""
TEST = "/* licensed */\npackage acme;\n\n{};\n\nclass CalcTest {{ void adds() {{}} }}\n"
PLACE = "src/test/java/acme/CalcTest.java"
KOTLIN_TEST = '/* licensed */\n@file:JvmName("Calc")\n\npackage acme\n\n{}\n\nclass CalcTest {{ fun adds() {{}} }}\n'
KOTLIN_PLACE = "src/test/kotlin/acme/CalcTest.kt"


def added(placed: Placed, folder: str) -> list[str]:
    """Return the texts of the classes that have come into a folder."""
    found = [*(placed.tree / folder).glob("*[0-9]Test.*")]
    return [path.read_text() for path in sorted(found)]


def test_tripwires_fail_in_nine_ways_and_pass_in_two() -> None:
    statuses = list(tripwires(random.Random(1)).expected.values())
    assert statuses.count(Status.PASSED) == 2
    assert statuses.count(Status.FAILED) == 9


def test_every_framework_has_the_same_tests_in_every_language() -> None:
    made = tripwires(random.Random(1))
    assert [*made.files] == [f"{name}.{suffix}" for suffix, written in LANGUAGES.items() for name in written.frameworks]
    for name, text in made.files.items():
        definition = "fun {}()" if name.endswith(".kt") else "void {}()"
        assert all(definition.format(test) in text for test in made.expected)
        assert "$" not in text


@pytest.mark.parametrize("framework", IMPORTS)
def test_java_class_is_of_the_framework_that_the_tests_import(framework: str, tmp_path: Path) -> None:
    imported, holder = IMPORTS[framework]
    placed = put("maven", tmp_path, {PLACE: TEST.format(imported)}, ["CalcTest"])
    assert len(placed.places) == 1
    text = added(placed, "src/test/java/acme")[0]
    assert text.startswith("/* licensed */\npackage acme;\n")
    assert f"{holder}fail(" in text
    assert "@FROM@" not in text


@pytest.mark.parametrize(
    ("imports", "mark", "holder"),
    [
        ("import kotlin.test.Test\nimport kotlin.test.assertEquals", "kotlin.test.Test", "kotlin.test."),
        ("import org.junit.jupiter.api.Test", "org.junit.jupiter.api.Test", "org.junit.jupiter.api.Assertions."),
        ("import org.testng.annotations.Test", "org.testng.annotations.Test", "org.testng.Assert."),
        ("import org.junit.Test", "org.junit.Test", "org.junit.Assert."),
    ],
)
def test_kotlin_class_is_of_the_framework_that_the_tests_import(
    imports: str, mark: str, holder: str, tmp_path: Path
) -> None:
    placed = put("maven", tmp_path, {KOTLIN_PLACE: KOTLIN_TEST.format(imports)}, [KOTLIN_PLACE])
    (text,) = added(placed, "src/test/kotlin/acme")
    assert text.startswith("/* licensed */\n\npackage acme\n"), "annotations of the file stay there"
    assert f"\n    @{mark}\n" in text
    assert f" {holder}assertFalse(" in text


def test_assertions_of_kotlin_beside_another_framework_have_a_class_of_their_own(tmp_path: Path) -> None:
    imports = "import kotlin.test.assertEquals\nimport org.junit.Test"
    placed = put("maven", tmp_path, {KOTLIN_PLACE: KOTLIN_TEST.format(imports)}, [KOTLIN_PLACE])
    junit, own = added(placed, "src/test/kotlin/acme")
    assert "org.junit.Assert.fail(" in junit
    assert "@org.junit.Test\n" in own
    assert "kotlin.test.fail(" in own


@pytest.mark.parametrize(
    ("place", "test", "imported", "import_", "call"),
    [
        (KOTLIN_PLACE, KOTLIN_TEST, "import kotlin.test.*", "import kotlin.test.*", " assertFalse("),
        (KOTLIN_PLACE, KOTLIN_TEST, "import org.junit.Assert.*", "import org.junit.Assert.*", " assertFalse("),
        (KOTLIN_PLACE, KOTLIN_TEST, "import org.junit.*", "import org.junit.*", " Assert.assertFalse("),
        (PLACE, TEST, "import org.junit.*", "import org.junit.*;", " Assert.assertFalse("),
    ],
)
def test_framework_imported_as_a_whole_is_named_as_the_tests_name_it(
    place: str, test: str, imported: str, import_: str, call: str, tmp_path: Path
) -> None:
    """A class or function of the project in the same package comes before such an import."""
    files = {place: test.format(imported), place.replace("acme", "acme/more"): test.format(imported)}
    placed = put("maven", tmp_path, files, [*files])
    assert len(placed.places) == 2, "each package can have some"
    for folder in ("acme", "acme/more"):
        (text,) = added(placed, f"{place.rpartition('/acme/')[0]}/{folder}")
        assert f"\n{import_}\n" in text
        assert call in text


def test_class_matches_the_pattern_that_the_command_gets(tmp_path: Path) -> None:
    before, _, after = tripwires(random.Random(1)).argument.partition("*")
    placed = put("maven", tmp_path, {PLACE: TEST.format(IMPORTS["junit4"][0])}, ["CalcTest"])
    text = added(placed, "src/test/java/acme")[0]
    assert f"public class {before}1{after} {{" in text
    assert f"src/test/java/acme/{before}1{after}.java" in placed.files


def test_every_module_with_expected_tests_gets_one_class(tmp_path: Path) -> None:
    text = TEST.format(IMPORTS["junit4"][0])
    files = {f"{module}/{PLACE}": text for module in ("core", "shop")}
    files |= {f"other/{PLACE}": text.replace("adds", "muls"), "core/src/test/java/acme/in/AnyTest.java": text}
    files |= {"core/src/test/kotlin/acme/ZeroTest.kt": KOTLIN_TEST.format("import org.junit.Test")}
    placed = put("maven", tmp_path, files, expected=["adds"])
    assert len(placed.places) == 2
    assert [len(added(placed, f"{module}/src/test/java/acme")) for module in ("core", "shop", "other")] == [1, 1, 0]


def test_class_of_kotlin_is_found_in_a_file_of_another_name(tmp_path: Path) -> None:
    text = KOTLIN_TEST.format("import org.junit.Test")
    files = {"src/test/kotlin/acme/people.kt": text, "src/test/kotlin/acme/none.kt": "// class CalcTest"}
    assert len(put("maven", tmp_path, files, ["CalcTest"], ["adds"]).places) == 1


def test_module_keeps_to_the_framework_of_its_first_file(tmp_path: Path) -> None:
    """Tests of the other may not run at all, as JUnit 4's without its vintage engine."""
    files = {PLACE: TEST.format(IMPORTS["junit5"][0]), PLACE.replace("Calc", "Old"): TEST.format("import org.junit.*")}
    assert len(put("maven", tmp_path, files).places) == 1


def test_module_without_a_known_framework_gets_none(tmp_path: Path) -> None:
    files = {
        PLACE: TEST.format("import spock.lang.Specification"),
        KOTLIN_PLACE: KOTLIN_TEST.format("import io.kotest.*"),
    }
    assert not put("maven", tmp_path, files).places


POM = (
    "<project><modules><module>core</module><!-- <module>old</module> --></modules><profile>\n"
    "<modules><module>extra</module></modules>"
)


@pytest.mark.parametrize(
    ("runner", "files", "words", "places"),
    [
        (
            "maven",
            {"pom.xml": POM, "core/pom.xml": "<modules><module>in</module></modules>"},
            [],
            {"core": "", "core/in": "", "extra": "?"},
        ),
        (  # an element of a plugin, and a circle
            "maven",
            {"pom.xml": POM, "core/pom.xml": "<modules><module>..</module></modules><module>\n<info/></module>"},
            [],
            {"core": "", "extra": "?"},
        ),
        ("maven", {"pom.xml": POM}, ["-pl=core"], {"core": ""}),
        ("maven", {"pom.xml": POM}, ["-pl=core", "-am"], {"core": "", "extra": "?"}),
        ("maven", {"pom.xml": POM, "core/pom.xml": "<include>**/*Test.java</include>"}, ["-pl=core"], {"core": ""}),
        ("maven", {"pom.xml": POM, "core/pom.xml": "<include>**/AllTests.java</include>"}, ["-pl=core"], {"core": "?"}),
        ("maven", {"pom.xml": POM}, ["--projects=:core"], {"core": "", "extra": "?"}),
        ("maven", {"pom.xml": POM}, ["-pl=!core"], {"core": "?", "extra": "?"}),
        (
            "gradle",
            {"settings.gradle": "include 'core', ':core:in'"},
            [],
            {"core": "", "core/in": "", "extra": "?", "old": "?"},
        ),
        ("gradle", {"settings.gradle": "include 'core:in', 'core', 'old', 'extra'"}, [":core:test"], {"core": ""}),
        ("gradle", {"settings.gradle.kts": 'include("core", "old")'}, ["old:test"], {"old": ""}),
    ],
)
def test_only_modules_that_are_run_have_a_class(
    tmp_path: Path, runner: str, files: dict[str, str], words: list[str], places: dict[str, str]
) -> None:
    modules = ["core", "core/in", "extra", "old"]
    tests = {f"{module}/{PLACE}": TEST.format(IMPORTS["junit4"][0]) for module in modules}
    placed = put(runner, tmp_path, tests | files, words)
    found = [module for module in modules if added(placed, f"{module}/src/test/java/acme")]
    marks = ["?" if place.endswith("?") else "" for place in placed.places]
    assert dict(zip(found, marks, strict=True)) == places
