"""Versions of a language that there are toolchains for, from ``dockerfiles/<language>/toolchains.yaml``."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Literal

import yaml
from pydantic import Field

from assay.harness.domain import Model
from assay.instances.toolchains.buildfiles import build_text


class LanguageVersion(Model):
    """One version of a language."""

    distribution: Literal["debian", "ubuntu"] = "debian"
    suite: str = ""
    """Release of the distribution to bootstrap from; empty for a version that only a user's image can carry."""
    packages: tuple[str, ...] = ()
    links: Mapping[str, str] = Field(default_factory=dict)
    """Symbolic links to create, path to target: the usual name of a program that its package does not give it."""
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
