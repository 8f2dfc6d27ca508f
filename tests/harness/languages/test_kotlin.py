import re
from fnmatch import fnmatchcase

import pytest

from assay.harness.languages import kotlin


@pytest.mark.parametrize(
    "path",
    [
        "src/test/kotlin/com/acme/CalcTest.kt",
        "src/test/kotlin/com/acme/Fakes.kt",
        "core/src/commonTest/kotlin/Calc.kt",
        "core/src/jvmTest/resources/sums.json",
        "app/src/androidTest/java/com/acme/Screen.kt",
        "core/src/testFixtures/kotlin/com/acme/Fake.kt",
        "coroutines-core/jvm/test/TestBase.kt",
        "core/commonTest/src/Sums.kt",
        "compiler/testData/codegen/box.kt",
        "lib/com/acme/CalcSpec.kt",
    ],
)
def test_test_files(path: str) -> None:
    assert kotlin.is_test_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/main/kotlin/com/acme/Calc.kt",
        "src/main/kotlin/com/acme/test/Client.kt",
        "src/commonMain/kotlin/com/acme/TypeSpec.kt",
        "src/main/kotlin/SelfTest.kt",
        "coroutines-test/jvm/src/TestScope.kt",
        "contest/Latest.kt",
    ],
)
def test_sources(path: str) -> None:
    assert not kotlin.is_test_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "build.gradle.kts",
        "core/pom.xml",
        "gradle/libs.versions.toml",
        "buildSrc/src/main/kotlin/Conventions.kt",
        "src/test/resources/kotest.properties",
        "src/main/resources/META-INF/services/io.kotest.core.spec.SpecExecutionListener",
        "src/main/resources/META-INF/services/org.jetbrains.kotlin.compiler.plugin.CompilerPluginRegistrar",
        "src/main/resources/META-INF/services/org.junit.platform.launcher.LauncherSessionListener",
        "src/main/kotlin/kotlin/test/Assertions.kt",
        "src/main/java/org/junit/jupiter/api/Assertions.java",
    ],
)
def test_files_that_steer_the_runner(path: str) -> None:
    assert kotlin.runner_config(path)


@pytest.mark.parametrize(
    "path", ["src/main/kotlin/com/acme/kotlin/Test.kt", "scripts/release.main.kts", "lib/Kotest.kt"]
)
def test_ordinary_files_steer_nothing(path: str) -> None:
    assert not kotlin.runner_config(path)


def test_stand_ins_are_named_by_the_runners_package() -> None:
    assert kotlin.stands_in("src/main/kotlin/io/kotest/matchers/Should.kt") == "src/main/kotlin/io/kotest/"
    assert kotlin.stands_in("src/main/kotlin/org/junit/Assert.kt") == "src/main/kotlin/org/junit/"
    assert kotlin.stands_in("src/main/kotlin/com/acme/Assert.kt") == ""


@pytest.mark.parametrize(
    "path", ["target/kotlin-ic/compile/x.bin", "core/.kotlin/sessions/a", "target/classes/A.class"]
)
def test_build_products(path: str) -> None:
    assert any(fnmatchcase(path, pattern) for pattern in kotlin.BUILD_PRODUCTS)


def test_targets_are_files_of_tests() -> None:
    paths = [
        *("core/src/test/kotlin/acme/people.kt", "src/main/kotlin/acme/Calc.kt", "src/test/resources/Data.kt"),
        *("src/test/java/acme/OldTest.java", "core/src/test/kotlin/acme/people.kt"),
    ]
    assert kotlin.test_targets(paths) == ("core/src/test/kotlin/acme/people.kt", "src/test/java/acme/OldTest.java")


def test_places_are_the_classes_of_a_file_whatever_its_name_and_folder() -> None:
    text = """\
package com.acme

/** a class of its own */
@Tag("slow") internal class AddTest {
    class Inner
}
data class Pair(val one: Int)
object Numbers : Base()
"""
    found = {*kotlin.places("src/test/kotlin/people.kt", text)}
    assert {"people", "AddTest", "com.acme.AddTest", "com.acme.Pair", "Numbers"} < found
    assert not {"Inner", "com.acme.Inner", "of"} & found


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("    private suspend inline fun <reified T : Any> List<T>.half(by: Int): T {", "half"),
        ("internal const val LIMIT = 3", "LIMIT"),
        ("sealed interface Shop", "Shop"),
        ("typealias Sums = Map<String, Int>", "Sums"),
        ("        val local = 3", ""),
        ("        total(3)", ""),
    ],
)
def test_definitions_of_a_line(line: str, name: str) -> None:
    found = {match[1] for pattern in kotlin.LINES.definitions for match in re.finditer(pattern, line)}
    assert found == ({name} if name else set())
