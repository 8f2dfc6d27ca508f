"""The tables of ``providers.yaml``: which package brings a header, a command, a library, a module, a fixture ..."""

import re
from functools import cache
from pathlib import Path

from assay.harness.domain import Model
from assay.harness.files import read_yaml
from assay.instances.toolchains.versions import load_versions


class LocalService(Model):
    """A program that listens on a port of the tests' own container."""

    packages: tuple[str, ...]
    start: str


class Providers(Model):
    """The content of the file, whose comments describe the tables."""

    headers: dict[str, str]
    libraries: dict[str, str]
    shared: dict[str, str]
    typelibs: dict[str, str]
    commands: dict[str, str]
    modules: dict[str, str]
    fixtures: dict[str, str]
    options: dict[str, str]
    markers: dict[str, str]
    removed: dict[str, str]
    python_removed: dict[str, str]
    python_added: dict[str, str]
    services: dict[str, LocalService]
    skips: dict[str, str]
    in_php: frozenset[str]
    in_ruby: frozenset[str]
    composer: dict[str, str]
    php_extensions: dict[str, str]
    phpunit: dict[str, str]
    php_classes: dict[str, str]
    gems: dict[str, str]
    features: dict[str, str]


@cache
def load_providers() -> Providers:
    path = Path(__file__).with_name("providers.yaml")
    return Providers.model_validate(read_yaml(path))


@cache
def list_debian_libraries(language: str, version: str) -> frozenset[str]:
    """Return Debian's packages of PHP's and Ruby's libraries in the release of a version of the language."""
    table: dict[str, str] = read_yaml(Path(__file__).with_name("debian_packages.yaml"))
    toolchain = load_versions(language).versions.get(version)
    suite = toolchain.suite if toolchain else ""
    return frozenset(name for suites, names in table.items() if suite in suites.split() for name in names.split())


def find_debian_package(table: str, name: str) -> str:
    """Return the Debian package with a header (``openssl/ssl.h``), a library or a namespace; empty if unknown."""
    known: dict[str, str] = getattr(load_providers(), table)
    calls = (name, *name.split("/")[:1], name.rpartition("/")[2], name.lower(), re.sub(r"\.so.*", ".so", name))
    return next((known[call] for call in calls if call in known), "")


def find_distribution(module: str) -> str:
    """Return the usual distribution of a module that is imported, such as ``yaml``; empty for what is on no index."""
    table = load_providers().modules
    top = module.partition(".")[0]
    two = ".".join(module.split(".")[:2])
    return table.get(two, table.get(top, top.replace("_", "-")))
