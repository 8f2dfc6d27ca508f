"""Versions of a language that there are toolchains for, from ``dockerfiles/<language>/toolchains.yaml``."""

from datetime import date
from functools import cache
from typing import Literal

from assay.harness.domain import Model
from assay.harness.domain.vocabulary import Sha256
from assay.harness.files import parse_yaml
from assay.instances.toolchains.buildfiles import build_text


class PinnedArchive(Model):
    """A zip archive or a compressed tar of a package index, for 64-bit x86 only, unpacked over a release's packages."""

    index: Literal["maven", "go", "npm"]
    path: str
    """Relative to the URL of the index."""
    sha256: Sha256
    folder: str
    """The folder of the archive that is taken."""
    to: str
    """The folder that it becomes."""


class LanguageVersion(Model):
    suite: str = ""
    """Debian release to bootstrap from; empty for a version that only a user's image can carry."""
    packages: tuple[str, ...] = ()
    archive: PinnedArchive | None = None
    """The language's own programs, where packages have an older or newer version; ``toolchain.sh`` sets them up."""
    released: date | None = None


class OfficialImage(Model):
    """The public image of a language, on which its versions are tags."""

    image: str
    """Repository and tag; ``{version}`` stands for the version."""
    packages: tuple[str, ...] = ()
    """Packages that it lacks."""


class OptionalIndex(Model):
    """The package index of a language whose projects can also run on Debian's packages alone."""

    url: str
    probe: str
    """Path of a small file that every such index has."""
    variable: str
    """Environment variable with the URL of another one."""


class LanguageVersions(Model):
    """The content of one ``toolchains.yaml``."""

    default: str
    versions: dict[str, LanguageVersion]
    official: OfficialImage | None = None
    """None if tests need packages of a distribution that go with the distribution's own version."""
    index: OptionalIndex | None = None
    locks: tuple[str, ...] = ()
    """Names of files that fix all packages of a build; without one, packages are taken as of the instance's date."""


@cache
def load_versions(language: str) -> LanguageVersions:
    """Load the versions of a language that there are toolchains for; raises EnvironmentFailure if there are none."""
    return LanguageVersions.model_validate(parse_yaml(build_text("toolchains.yaml", language)))
