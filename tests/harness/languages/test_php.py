from fnmatch import fnmatchcase

import pytest

from assay.harness.languages import php


@pytest.mark.parametrize(
    "path",
    [
        "tests/Carbon/RoundTest.php",
        "tests/data/in.php",
        "tests/bootstrap.php",
        "src/Component/Mailer/Tests/MailerTest.php",
        "src/Component/Mailer/Tests/Fixtures/a.txt",
        "spec/CalcSpec.php",
        "CalcTest.php",
        "features/login.feature",
        "test/phpt/a.phpt",
    ],
)
def test_test_files(path: str) -> None:
    assert php.is_test_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/Calc.php",
        "src/Traits/Test.php",
        "src/TwigTest.php",
        "src/Illuminate/Testing/TestResponse.php",
        "src/Mailer/Test/Constraint.php",
        "config/tests.php",
        "phpunit.xml",
    ],
)
def test_other_files(path: str) -> None:
    assert not php.is_test_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "phpunit.xml",
        "phpunit.xml.dist",
        "phpunit.dist.xml",
        "phpunit-unit.xml",
        "composer.json",
        "src/Component/Mailer/composer.json",
        "composer.lock",
        "codeception.yml",
        "behat.yml",
        ".env.testing",
    ],
)
def test_runner_config(path: str) -> None:
    assert php.runner_config(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/Calc.php",
        "phpstan.neon",
        "config/app.php",
        "src/phpunit.php",
        "autoload.php",
    ],
)
def test_no_runner_config(path: str) -> None:
    assert not php.runner_config(path)


@pytest.mark.parametrize(
    "path",
    [
        "vendor/autoload.php",
        "vendor/bin/phpunit",
        ".phpunit.cache/test-results",
        "tools/phpunit.phar",
    ],
)
def test_build_products(path: str) -> None:
    assert any(fnmatchcase(path, pattern) for pattern in php.BUILD_PRODUCTS)


@pytest.mark.parametrize(
    "path",
    [
        "src/vendor/Vendor.php",
        "src/Calc.php",
    ],
)
def test_no_build_products(path: str) -> None:
    assert not any(fnmatchcase(path, pattern) for pattern in php.BUILD_PRODUCTS)


def test_files_to_run() -> None:
    paths = [
        "tests/RoundTest.php",
        "tests/data/in.php",
        "tests/TestCase.php",
        "src/TwigTest.php",
        "tests/RoundTest.php",
    ]
    assert php.test_targets(paths) == ("tests/RoundTest.php",)
