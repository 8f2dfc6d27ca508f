"""What is read from Gemfiles and gemspecs, which are never run."""

from collections.abc import Callable

import pytest

from assay.instances.setup.gem_manifests import debian_name, read_bundled
from assay.instances.setup.project import Project

GEMFILE = """\
source "https://rubygems.org"
gemspec
gem "rspec", "~> 3.0"
  gem 'webmock', require: false
# gem "commented"
gem("vcr")
gem "rubocop"
system("touch /tmp/ran")
"""
GEMSPEC = """\
Gem::Specification.new do |s|
  s.required_ruby_version = [">= 2.6", "< 4"]
  s.add_dependency "parser", ">= 3"
  s.add_runtime_dependency(%q<rubocop-ast>, [">= 1"])
  s.add_development_dependency 'simplecov-html'
  s.add_development_dependency 'timecop'
end
"""


def test_gems_of_gemfile_and_gemspec_without_tools(project: Callable[..., Project]) -> None:
    texts = {"Gemfile": GEMFILE, "calc.gemspec": GEMSPEC, ".ruby-version": "ruby-3.1.2\n"}
    bundled = read_bundled(project(texts, language="ruby"))
    assert bundled.gems == ("rspec", "webmock", "vcr", "parser", "rubocop-ast", "timecop")
    assert bundled.runtime == ("parser", "rubocop-ast")
    assert (bundled.requires, bundled.versions) == (">=2.6,<4", ("3.1",))


@pytest.mark.parametrize(
    ("bound", "specifier"), [('"~> 3.0"', ">=3.0,==3.*"), ("'>= 2.7.0'", ">=2.7.0"), ('"3.1"', "==3.1")]
)
def test_bounds_on_ruby_are_read(project: Callable[..., Project], bound: str, specifier: str) -> None:
    text = f"Gem::Specification.new {{ |s| s.required_ruby_version = {bound} }}"
    assert read_bundled(project({"calc.gemspec": text}, language="ruby")).requires == specifier


@pytest.mark.parametrize(
    ("gem", "name"),
    [
        ("factory_bot", "ruby-factory-bot"),
        ("ruby-progressbar", "ruby-progressbar"),
        ("pry", "pry"),
        ("RedCloth", "ruby-redcloth"),
    ],
)
def test_debian_names_gems_by_their_name(gem: str, name: str) -> None:
    assert debian_name(gem) == name
