"""What a Ruby project's Gemfile and gemspecs say, and Debian's packages of it. They are programs, and never run."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from assay.instances.setup.project import Project
from assay.instances.setup.providers import load_providers

MANIFESTS = ("Gemfile", "gems.rb", "*.gemspec")
DEEPEST = 2  # folders that the path of a gemspec may have
TOOLS = re.compile(
    r"(rubocop|standard|guard|brakeman|reek|rubycritic|overcommit|danger|bundler-audit|appraisal|gem-release|yard|"
    r"redcarpet|rdoc|irb|ruby-lsp|solargraph|steep|rbs|sorbet|tapioca|pry-byebug|byebug|debug|stackprof|ruby-prof|"
    r"benchmark|codecov|coveralls|simplecov-|rspec_junit|terminal-notifier|rb-fsevent|win32|bump|license|mdl|jeweler|"
    r"github_changelog|travis|spring|web-console|listen$|foreman|capistrano|bootsnap|tzinfo-data|wdm|fiddle$)[\w.-]*"
)
"""Gems that tests do without; the loader of the toolchain answers for gems that measure or print."""
GEM = re.compile(r"""^\s*gem[\s(]+(["'])([\w.-]+)\1""", re.M)
DEPENDENCY = re.compile(r"""\.add_(?:runtime_|development_)?dependency[\s(]+%?[qQ]?(["'<({])([\w.-]+)["'>)}]""")
REQUIRED_RUBY = re.compile(r"""required_ruby_version\s*=\s*(.+)""")
BOUND = re.compile(r"""(>=|<=|~>|!=|=|<|>)?\s*(\d+(?:\.\d+)*)""")


@dataclass(frozen=True, slots=True)
class Bundled:
    """What Gemfile and gemspecs name."""

    gems: tuple[str, ...]
    """Gems that tests may load."""
    runtime: tuple[str, ...]
    """Gems that a gemspec requires at run time."""
    requires: str
    """Bound on Ruby's version, as a PEP 440 specifier."""
    versions: tuple[str, ...]
    """Version of Ruby in ``.ruby-version``, if any."""


def read_bundled(project: Project) -> Bundled:
    files = (text for path, text in project.matching(*MANIFESTS) if path.count("/") <= DEEPEST)
    texts = [re.sub(r"(?m)^\s*#.*$", "", text) for text in files]
    own = {path.rpartition("/")[2].removesuffix(".gemspec") for path in project.paths if path.endswith(".gemspec")}
    runtime = dict.fromkeys(name for text in texts for name in read_runtime_names(text) if name not in own)
    every = dict.fromkeys(name for text in texts for name in read_names(text) if name not in own)
    bounds = (BOUND.findall(found[1]) for text in texts for found in REQUIRED_RUBY.finditer(text))
    pinned = re.search(r"\d+\.\d+", project.text(".ruby-version"))
    return Bundled(
        tuple(name for name in every if name in runtime or not TOOLS.fullmatch(name)),
        tuple(runtime),
        ",".join(_specifier(sign, number) for found in list(bounds)[:1] for sign, number in found),
        (pinned[0],) if pinned else (),
    )


def read_names(text: str) -> Iterator[str]:
    """Yield the gems that a Gemfile or a gemspec names."""
    for pattern in (GEM, DEPENDENCY):
        yield from (found[2] for found in pattern.finditer(text))


def debian_name(gem: str) -> str:
    """Return the name that Debian's package of a gem has, if there is one."""
    name = gem.lower().replace("_", "-")
    return load_providers().gems.get(gem, name if name.startswith("ruby-") else f"ruby-{name}")


def read_runtime_names(text: str) -> Iterator[str]:
    """Yield the gems that a gemspec requires at run time."""
    yield from (found[2] for found in DEPENDENCY.finditer(re.sub(r".*add_development_dependency.*", "", text)))


def _specifier(sign: str, number: str) -> str:
    if sign == "~>":
        kept = number.split(".")[:-1] or [number]
        return f">={number},=={'.'.join(kept)}.*"
    return f"{'==' if sign in {'', '='} else sign}{number}"
