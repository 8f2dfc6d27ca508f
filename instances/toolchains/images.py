"""Toolchain images: operating system and language version, the first layer under every environment.

An image comes from the first of these that has the version: an image that the user names; the official public image
by digest, where a registry answers; a bootstrap from packages of Debian, some with an archive on top.
"""

import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256

from assay.harness import languages
from assay.harness.domain import Recipe
from assay.harness.engines.base import LABEL, Engine
from assay.harness.errors import EngineError, EnvironmentFailure, ImageMissing
from assay.instances.toolchains.buildfiles import build_text
from assay.instances.toolchains.versions import LanguageVersion, PinnedArchive, load_versions

EVERYWHERE = ("git", "patch", "procps", "ca-certificates")
"""Packages of every toolchain: what applying patches and ending runs needs."""
LEFT_OUT = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*")
ARCHIVES_MACHINE = "x86_64"
KEPT = ("/usr/share/man/man1",)
"""A folder inside ``LEFT_OUT`` that is created empty: the set-up of some packages (Java's) writes links into it."""

OFFICIAL, BOOTSTRAP = "official", "bootstrap"
ORDER = (OFFICIAL, BOOTSTRAP)
"""The sources of versions for which the user names no image, the preferred one first."""
REGISTRY = "docker.io/library"
SOURCES = "sources"
"""The table of ``UserImages`` that is no language: ``order`` of sources, and ``registry`` of official images."""

UserImages = Mapping[str, Mapping[str, str]]
"""The user's own toolchain images, language to version to image name; and the table ``SOURCES``."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A toolchain image, which need not exist yet."""

    name: str
    identity: str
    """Stands for the image's content in the names of all images above it."""
    labels: Mapping[str, str] = field(default_factory=dict)
    suite: str = ""
    """Debian release to bootstrap from; empty for a user's image."""
    packages: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    """Packages, each with the version that is taken if the archive still has it, as a lock says."""
    archive: PinnedArchive | None = None
    """What is unpacked over the packages, and set up by the script."""
    script: str = ""
    image: str = ""
    """The public image, by digest, over which the script, a Dockerfile, adds the packages."""

    @property
    def origin(self) -> str:
        """What the packages are added to, in words."""
        archive = f" with {self.archive.path.rpartition('/')[2]}" if self.archive else ""
        return self.image or f"Debian {self.suite}{archive}"

    @property
    def is_made(self) -> bool:
        """Whether Assay makes the image; if not, it is the user's own."""
        return bool(self.suite or self.image)


@dataclass(frozen=True, slots=True)
class Offer:
    """One source of a toolchain, and what it has."""

    source: str
    toolchain: Toolchain | None
    why: str
    """What the toolchain is, or why there is none."""


def find_toolchain(recipe: Recipe, images: UserImages, engine: Engine) -> Toolchain:
    """Choose the image of a recipe's language version, without building it; raises EnvironmentFailure.

    A user's own image is a local name, or ``name@sha256:...``, which is pulled if the engine lacks it.
    """
    version = recipe.toolchain or load_versions(recipe.language).default
    refused = []
    for offer in offers(recipe.language, version, images, engine):
        if offer.toolchain is not None:
            return offer.toolchain
        refused.append(f"{offer.source}: {offer.why}")
    problem = f"there is no toolchain for {recipe.language} {version} ({'; '.join(refused)})"
    raise EnvironmentFailure(f"{problem}; name an image for it in assay.toml: [toolchains.{recipe.language}]")


def offers(language: str, version: str, images: UserImages, engine: Engine) -> Iterator[Offer]:
    """Yield the sources of a version in the order in which they count; a later one is not asked before its turn.

    Raises EnvironmentFailure if the user's image is not on the engine and cannot be pulled.
    """
    if chosen := images.get(language, {}).get(version):
        yield Offer("image", _users_image(chosen, f"{language} {version}", engine), f"{chosen}, by your settings")
    else:
        yield Offer("image", None, "none named in the settings")
    settings = images.get(SOURCES, {})
    for source in settings.get("order", " ".join(ORDER)).split():
        if source == OFFICIAL:
            yield _offer_official(language, version, settings.get("registry") or REGISTRY, engine)
        else:
            yield _offer_bootstrap(language, version)


def _offer_official(language: str, version: str, registry: str, engine: Engine) -> Offer:
    official = load_versions(language).official
    if official is None:
        return Offer(OFFICIAL, None, "test runners are Debian's packages for Debian's version")
    tagged = f"{registry}/{official.image.format(version=version)}"
    try:
        digest = engine.remote_digest(tagged)
    except ImageMissing:
        return Offer(OFFICIAL, None, f"the registry has no {tagged}")
    except EngineError as error:
        reason = str(error).rpartition(": ")[2]
        return Offer(OFFICIAL, None, f"{registry.partition('/')[0]} does not answer ({reason})")
    image = f"{tagged.rpartition(':')[0]}@{digest}"
    packages = (*EVERYWHERE, *official.packages)
    text = build_text("official.Dockerfile").replace("@IMAGE@", image).replace("@PACKAGES@", " ".join(packages))
    named = _name_toolchain(language, version, text)
    made = replace(named, packages=packages, image=image, script=text)
    return Offer(OFFICIAL, made, f"{tagged}, {digest}")


def _offer_bootstrap(language: str, version: str) -> Offer:
    known = load_versions(language).versions
    found = known.get(version, LanguageVersion())
    if not found.suite:
        return Offer(BOOTSTRAP, None, f"only {', '.join(name for name, each in known.items() if each.suite)}")
    if found.archive and platform.machine() != ARCHIVES_MACHINE:
        return Offer(BOOTSTRAP, None, f"an archive for {ARCHIVES_MACHINE}, and this machine is {platform.machine()}")
    packages = (*found.packages, *EVERYWHERE)
    script = build_text("toolchain.sh", language) if found.archive else ""
    inputs = "\n".join((found.suite, *packages, *LEFT_OUT, *KEPT))
    if found.archive:
        inputs += f"\n{found.archive.model_dump_json()}\n{script}"
    made = replace(
        _name_toolchain(language, version, inputs),
        suite=found.suite,
        packages=packages,
        archive=found.archive,
        script=script,
    )
    return Offer(BOOTSTRAP, made, made.origin)


def _name_toolchain(language: str, version: str, inputs: str) -> Toolchain:
    """Name a toolchain after all that it is made from."""
    shared = languages.find(language).DOCKERFILES
    name = f"assay/toolchain-{shared}:{version}-{sha256(inputs.encode()).hexdigest()[:12]}"
    labels = {f"{LABEL}.kind": "toolchain", f"{LABEL}.language": f"{language}-{version}"}
    return Toolchain(name, name, labels)


def _users_image(name: str, version: str, engine: Engine) -> Toolchain:
    info = engine.find_image(name)
    if info is None and "@sha256:" not in name:
        raise EnvironmentFailure(f"toolchain image {name} for {version} is not on the engine; pull it")
    if info is None:
        try:
            info = engine.pull(name)
        except ImageMissing as error:
            raise EnvironmentFailure(f"toolchain image for {version}: {error}") from error
    return Toolchain(name, info.digest)
