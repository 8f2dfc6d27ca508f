from fnmatch import fnmatchcase

import pytest

from assay.harness.languages import java


@pytest.mark.parametrize(
    "path",
    [
        "src/test/java/com/acme/CalcTest.java",
        "core/src/test/resources/calc.json",
        "core/src/integrationTest/java/com/acme/Slow.java",
        "lib/src/testFixtures/java/com/acme/Fake.java",
        "suite/core/src/test/org/acme/TestPoint.java",
        "suite/test-framework/src/java/org/acme/BaseCase.java",
        "test/transform/resource/After.java",
        "src/test/java/com/acme/Issue81.java",
        "core/src/com/acme/CalcTest.java",
    ],
)
def test_test_files(path: str) -> None:
    assert java.is_test_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/main/java/com/acme/Calc.java",
        "src/main/java/com/acme/test/Client.java",
        "src/main/java/com/acme/SelfTest.java",
        "acme-test/src/main/java/com/acme/Runner.java",
        "src/main/java/com/acme/Latest.java",
        "core/src/java/org/acme/Point.java",
        "docs/tests.md",
        "src/latest/Calc.java",
    ],
)
def test_other_files(path: str) -> None:
    assert not java.is_test_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "pom.xml",
        "core/pom.xml",
        ".mvn/maven.config",
        ".mvn/jvm.config",
        ".mvn/extensions.xml",
        "build.gradle",
        "core/build.gradle.kts",
        "settings.gradle",
        "gradle.properties",
        "gradle/libs.versions.toml",
        "gradle/wrapper/gradle-wrapper.properties",
        "gradle/testing/defaults.gradle",
        "buildSrc/src/main/java/Plugin.java",
        "build-logic/src/main/kotlin/conventions.kt",
        "mvnw",
        "gradlew",
        "build.xml",
        "src/main/resources/junit-platform.properties",
        "src/main/resources/META-INF/services/org.junit.platform.launcher.TestExecutionListener",
        "src/main/resources/META-INF/services/javax.annotation.processing.Processor",
        "src/main/java/org/junit/Assert.java",
        "src/main/java/org/junit/jupiter/api/Assertions.java",
        "core/src/main/java/junit/framework/TestCase.java",
        "src/main/java/org/hamcrest/MatcherAssert.java",
    ],
)
def test_runner_config(path: str) -> None:
    assert java.runner_config(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/main/java/com/acme/Calc.java",
        "src/main/java/com/acme/junit/Runner.java",
        "plugin/src/main/java/com/acme/gradle/Task.java",
        "plugin/src/main/java/com/acme/maven/Mojo.java",
        "src/main/resources/META-INF/services/com.acme.Codec",
        "src/main/resources/app.properties",
    ],
)
def test_no_runner_config(path: str) -> None:
    assert not java.runner_config(path)


@pytest.mark.parametrize(
    "path",
    [
        "target/classes/app.properties",
        "core/target/surefire-reports/TEST-a.xml",
        "core/target/test-classes/A.class",
        "core/build/classes/java/main/A.class",
        "build/test-results/test/TEST-a.xml",
        ".gradle/8.5/x.bin",
        "lib/A.class",
    ],
)
def test_build_products(path: str) -> None:
    assert any(fnmatchcase(path, pattern) for pattern in java.BUILD_PRODUCTS)


@pytest.mark.parametrize(
    "path",
    [
        "src/main/java/com/acme/target/Target.java",
        "src/main/java/com/acme/build/Builder.java",
        "build/rules.xml",
        "target/readme.md",
    ],
)
def test_no_build_products(path: str) -> None:
    assert not any(fnmatchcase(path, pattern) for pattern in java.BUILD_PRODUCTS)


def test_classes_to_run() -> None:
    paths = [
        "core/src/test/java/com/acme/CalcTest.java",
        "core/src/test/java/com/acme/package-info.java",
        "core/src/test/resources/com/acme/Data.java",
        "core/src/test/resources/calc.json",
        "core/src/main/java/com/acme/Calc.java",
        "extra/src/test/java/com/acme/Issue81.java",
        "extra/src/test/java/com/acme/CalcTest.java",
    ]
    assert java.test_targets(paths) == ("CalcTest", "Issue81")


def test_hash_codes_are_not_part_of_a_name() -> None:
    assert java.normalise("com.acme.CalcTest::adds(Pair@6d21714c, [I@1a2b3c4d)") == "com.acme.CalcTest::adds(Pair, [I)"
    assert java.normalise("com.acme.CalcTest::writes(me@acme.example)") == "com.acme.CalcTest::writes(me@acme.example)"
