"""Versions of a language that there are toolchains for, from ``dockerfiles/<language>/toolchains.yaml``."""

from datetime import date
from functools import cache

import yaml

from assay.harness.domain import Model
from assay.instances.toolchains.buildfiles import build_text


class LanguageVersion(Model):
    """One version of a language."""

    suite: str = ""
    """Debian release to bootstrap from; empty for a version that only a user's image can carry."""
    packages: tuple[str, ...] = ()
    released: date | None = None


class LanguageVersions(Model):
    """The content of one ``toolchains.yaml``."""

    default: str
    versions: dict[str, LanguageVersion]
    locks: tuple[str, ...] = ()
    """Names of files that fix all packages of a build; without one, packages are taken as of the instance's date."""


@cache
def versions_of(language: str) -> LanguageVersions:
    """Return the versions of a language that there are toolchains for; raises EnvironmentFailure if there are none."""
    return LanguageVersions.model_validate(yaml.safe_load(build_text("toolchains.yaml", language)))
