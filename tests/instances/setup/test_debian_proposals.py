"""The recipes that are tried first for PHP and Ruby projects, with Debian's packages alone."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from assay.harness.domain import TreeDownload
from assay.instances.setup.libraries import MirroredLibrary
from assay.instances.setup.project_facts import Facts
from assay.instances.setup.proposals import propose

PHPS, RUBIES = ("7.4", "8.2", "8.4"), ("2.7", "3.1", "3.3")


@pytest.mark.parametrize(
    ("php", "phpunit", "chosen"),
    [
        (">=7.2", "^9.5", "7.4"),
        ("^8.0", "^9.5", "8.2"),
        (">=7.4", "^9.6", "8.2"),
        ("^8.1", "^11.0", "8.4"),
        (">=8.3", "^9.5", "8.4"),
        ("", "", "7.4"),
    ],
)
def test_php_goes_by_its_bound_and_then_by_the_release_that_has_the_projects_phpunit(
    facts: Callable[..., Facts], php: str, phpunit: str, chosen: str
) -> None:
    text = f'{{"require": {{"php": "{php}"}}, "require-dev": {{"phpunit/phpunit": "{phpunit}"}}}}'
    assert propose(facts({"composer.json": text}, language="php", available=PHPS)).toolchain == chosen


def test_php_packages_are_debians_or_mirrored_with_what_those_require(facts: Callable[..., Facts]) -> None:
    text = '{"require": {"ext-intl": "*", "psr/log": "*", "acme/tool": "*", "acme/lost": "*"}}'
    tool = MirroredLibrary(
        TreeDownload(path="libraries/acme__tool", repo="acme/tool", commit="1" * 40),
        '{"name": "acme/tool", "require": {"twig/twig": "*"}, "require-dev": {"mockery/mockery": "*"}}',
    )
    known = replace(
        facts({"composer.json": text}, language="php", available=PHPS), has_index=False, libraries={"acme/tool": tool}
    )
    recipe = propose(known)
    assert recipe.system_packages == ("php-intl", "php-psr-log", "php-twig")
    assert (recipe.downloads, recipe.uses_index) == ((tool.download,), False)


def test_packages_come_from_the_index_where_it_answers(facts: Callable[..., Facts]) -> None:
    text = '{"require": {"ext-intl": "*", "psr/log": "*"}}'
    recipe = propose(replace(facts({"composer.json": text}, language="php", available=PHPS), has_index=True))
    assert (recipe.system_packages, recipe.uses_index) == (("php-intl",), True)


@pytest.mark.parametrize(
    ("texts", "paths", "runner"),
    [
        ({"Gemfile": 'gem "rspec"'}, ["spec/calc_spec.rb"], ""),
        ({"Gemfile": 'gem "minitest"'}, ["spec/calc_spec.rb"], "minitest"),
        ({"Gemfile": 'gem "minitest"', ".rspec": ""}, ["spec/calc_spec.rb"], ""),
        ({"Gemfile": 'gem "minitest"'}, ["test/test_calc.rb", "features/add.feature"], "minitest"),
        ({"Gemfile": 'gem "test-unit"'}, ["test/calc_test.rb"], "test_unit"),
        ({"Gemfile": "", "test/test_helper.rb": 'require "test/unit"'}, ["test/a/calc_test.rb"], "test_unit"),
        ({"Gemfile": 'gem "rspec"'}, ["spec/a_spec.rb", "test/a_test.rb", "test/b_test.rb"], "minitest"),
    ],
)
def test_ruby_takes_the_runner_of_the_tests_that_the_tree_has(
    facts: Callable[..., Facts], texts: dict[str, str], paths: list[str], runner: str
) -> None:
    assert propose(facts(texts, *paths, language="ruby", available=RUBIES)).runner == runner


def test_features_alone_are_cucumbers(facts: Callable[..., Facts]) -> None:
    recipe = propose(facts({"Gemfile": 'gem "aruba"'}, "features/add.feature", language="ruby", available=RUBIES))
    assert recipe.system_packages == ("ruby-aruba", "cucumber")
    assert (recipe.runner, "/usr/bin/cucumber" in recipe.test_command) == ("", True)
