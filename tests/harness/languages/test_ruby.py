from fnmatch import fnmatchcase

import pytest

from assay.harness.languages import ruby


@pytest.mark.parametrize(
    "path",
    [
        "spec/calc_spec.rb",
        "spec/fixtures/in.yml",
        "tool/spec/actions/zip_spec.rb",
        "test/test_filters.rb",
        "test/helper.rb",
        "features/post.feature",
        "features/step_definitions/a.rb",
        "calc_test.rb",
    ],
)
def test_test_files(path: str) -> None:
    assert ruby.is_test_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "lib/calc.rb",
        "lib/calc/test/driver.rb",
        "app/models/spec.rb",
        "lib/calc/rspec/matchers.rb",
        "changelog/fix_spec.md",
        "bin/console",
    ],
)
def test_other_files(path: str) -> None:
    assert not ruby.is_test_file(path)


@pytest.mark.parametrize(
    "path",
    [
        ".rspec",
        ".rspec-local",
        "spec/spec_helper.rb",
        "Rakefile",
        "rake/site.rake",
        "Gemfile",
        "Gemfile.lock",
        "calc.gemspec",
        "tool/tool.gemspec",
        ".bundle/config",
        "lib/rspec.rb",
        "lib/rspec/core.rb",
        "lib/minitest/quiet_plugin.rb",
        "lib/test/unit.rb",
        "tool/lib/minitest.rb",
        "test/minitest/quiet_plugin.rb",
    ],
)
def test_runner_config(path: str) -> None:
    assert ruby.runner_config(path)


@pytest.mark.parametrize(
    "path",
    [
        "lib/calc.rb",
        "lib/calc/rspec.rb",
        "lib/theme_template/Gemfile",
        "lib/calc/tasks/a.rake",
        "lib/rspecial.rb",
        "config.ru",
    ],
)
def test_no_runner_config(path: str) -> None:
    assert not ruby.runner_config(path)


@pytest.mark.parametrize(
    "path",
    [
        "ext/calc/calc.so",
        "vendor/bundle/ruby/3.1.0/gems/rspec/rspec.rb",
    ],
)
def test_build_products(path: str) -> None:
    assert any(fnmatchcase(path, pattern) for pattern in ruby.BUILD_PRODUCTS)


@pytest.mark.parametrize(
    "path",
    [
        "vendor/assets/a.rb",
        "lib/calc.rb",
    ],
)
def test_no_build_products(path: str) -> None:
    assert not any(fnmatchcase(path, pattern) for pattern in ruby.BUILD_PRODUCTS)


def test_files_to_run() -> None:
    paths = ["spec/calc_spec.rb", "spec/spec_helper.rb", "spec/support/a.rb", "test/test_filters.rb", "lib/a_spec.rb"]
    assert ruby.test_targets(paths) == ("spec/calc_spec.rb", "test/test_filters.rb")


def test_addresses_are_not_part_of_a_name() -> None:
    described = "is expected to eq #<Calc:0x000055d0c8a1b2c8 @a=1>"
    assert ruby.normalise(described) == "is expected to eq #<Calc:0x @a=1>"
    assert ruby.normalise("prints 0xff") == "prints 0xff"
