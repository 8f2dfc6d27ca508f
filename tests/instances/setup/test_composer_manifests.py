"""Composer's constraints, and Debian's names of what a composer.json asks for."""

import pytest

from assay.instances.setup.composer_manifests import debian_name, find_extension, permits, read_composed


@pytest.mark.parametrize(
    ("constraint", "allowed"),
    [
        ("", "7.4 8.2 8.4"),
        ("*", "7.4 8.2 8.4"),
        ("^8.1", "8.2 8.4"),
        ("^7.2 || ^8.0", "7.4 8.2 8.4"),
        ("^7.1|^8.3", "7.4 8.4"),
        (">=7.4 <8.3", "7.4 8.2"),
        (">=7.4,<8.2", "7.4"),
        ("~8.2.0", "8.2"),
        ("~8.2", "8.2 8.4"),
        ("8.2.*", "8.2"),
        ("7.2 - 8.2", "7.4 8.2"),
        (">=8.2.5", "8.2 8.4"),
        ("!=8.2", "7.4 8.4"),
        ("^9.6.3@stable", ""),
    ],
)
def test_a_constraint_allows_a_version_with_whatever_patch_release(constraint: str, allowed: str) -> None:
    assert [each for each in ("7.4", "8.2", "8.4") if permits(constraint, each)] == allowed.split()


@pytest.mark.parametrize(
    ("package", "name"),
    [
        ("symfony/options-resolver", "php-symfony-options-resolver"),
        ("monolog/monolog", "php-monolog"),
        ("psr/log", "php-psr-log"),
        ("guzzlehttp/psr7", "php-guzzlehttp-psr7"),
        ("FakerPHP/Faker", "php-faker"),
    ],
)
def test_debian_names_packages_by_vendor_and_name(package: str, name: str) -> None:
    assert debian_name(package) == name


@pytest.mark.parametrize(("name", "package"), [("json", ""), ("intl", "php-intl"), ("pdo_mysql", "php-mysql")])
def test_extensions_that_php_lacks_are_packages(name: str, package: str) -> None:
    assert find_extension(name) == package


def test_tools_count_only_where_the_library_itself_needs_them() -> None:
    text = """{"require": {"ext-gd": "*", "squizlabs/php_codesniffer": "*", "symfony/polyfill-php80": "*"},
    "require-dev": {"phpstan/phpstan": "*", "phpunit/phpunit": "^9", "mockery/mockery": "*"}}"""
    composed = read_composed(text)
    assert composed.packages == ("squizlabs/php_codesniffer", "mockery/mockery")
    assert (composed.extensions, composed.needs["phpunit/phpunit"]) == (("php-gd",), "^9")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"require": ["php"]}'])
def test_a_broken_manifest_requires_nothing(text: str) -> None:
    assert read_composed(text).needs == {}
