"""How a repository is built and tested."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from pydantic import Field

from assay.harness.domain.vocabulary import Model, Rule, Sha256


class Archive(Model):
    """A release archive of a package index, named so that anyone can fetch and verify the same bytes."""

    index: Literal["pypi", "go", "crates"] = "pypi"
    name: str
    version: str
    sha256: Sha256


class PublishedImage(Model):
    """An environment that a data set row carries itself: an image and the script to run in it."""

    image: str
    eval_script: str


class Service(Model):
    """A program that tests reach over the network, run beside them on an internal network of their own."""

    name: str
    """Host name by which the tests reach it."""
    packages: tuple[str, ...] = ()
    """Python packages that it needs, resolved with the same cut-off as the tests' own."""
    command: str
    """Shell text that serves until it is killed."""
    port: int
    """Tests begin when this port answers."""


class Variant(Model):
    """What a recipe changes for some of its repository's history."""

    versions: str = ""
    """PEP 440 specifier over the instance's version, e.g. ``<2.1``; empty matches all."""
    before: datetime | None = None
    """Matches instances created before this time."""
    rule: Rule | None = None
    """Matches instances of one benchmark: each has its own way to name a repository's tests."""
    toolchain: str | None = None
    system_packages: tuple[str, ...] | None = None
    packages: tuple[str, ...] | None = None
    constraints: tuple[str, ...] | None = None
    extras: tuple[str, ...] | None = None
    requirements: tuple[str, ...] | None = None
    cutoff_days: int | None = None
    fetch: tuple[str, ...] | None = None
    install: tuple[str, ...] | None = None
    env: dict[str, str] = {}
    test_command: str | None = None
    report_format: str | None = None
    log_format: str | None = None
    test_id: str | None = None
    test_files: Literal["patch", "all"] | None = None
    services: tuple[Service, ...] | None = None


class Recipe(Model):
    """How to build and test one repository: data, never code.

    The first matching entry of ``variants`` overrides the fields of the same name.
    """

    repo: str = ""
    language: str = "python"
    toolchain: str = ""
    """Version of the language toolchain; empty for the language's usual one."""
    system_packages: tuple[str, ...] = ()
    """Debian packages on top of the toolchain's."""
    manifests: tuple[str, ...] = ()
    """Patterns of the tree's files that decide which packages are fetched, on top of the language's own."""
    fetch: tuple[str, ...] = ()
    """Shell commands that replace the language's way of fetching packages; they alone have a network."""
    extras: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    """Requirement files inside the tree."""
    packages: tuple[str, ...] = ()
    """Requirements on top of the project's own."""
    constraints: tuple[str, ...] = ()
    """Bounds that the cut-off date alone does not give."""
    cutoff_days: int = 0
    """Days added to the instance's date before packages are resolved."""
    pretend_version: bool = False
    """Give version-control based build tools the instance's version, since the tree has no tags."""
    install: tuple[str, ...] = ()
    """Shell commands that replace the language's way of installing or pre-building the project; without a network."""
    env: dict[str, str] = {}
    test_command: str = ""
    """Shell text; empty for the language's usual runner.

    ``{files}`` stands for the test files (or packages, or classes) to run, ``{report}`` for the report file,
    ``{reports}`` for the folder of report files, ``{canary}`` for the tripwires.
    """
    report_format: str = ""
    """Of the report files; empty for the language's usual one."""
    log_format: str = ""
    """Of what the test command prints; empty for what the language's usual one does."""
    test_id: str = ""
    """How labels name a test (``harness.reports.IDS``); empty for the instance's own or the usual way."""
    test_files: Literal["patch", "all"] = "patch"
    """Run the files that the test patch touches, or what ``test_command`` names by itself."""
    timeout: int = 1800
    memory_mb: int = 4096
    network: bool = False
    capabilities: tuple[str, ...] = ()
    disk_mb: int = 4096
    canary: bool = True
    """Run tripwire tests beside the real ones; off for runners that cannot take a further file."""
    services: tuple[Service, ...] = ()
    faketime: str = ""
    """Moment that the tests are told it is (``2014-05-01 00:00:00``), for certificates that have expired since."""
    variants: tuple[Variant, ...] = ()


class Limits(Model):
    """What one container may use."""

    memory_mb: int = 4096
    cpus: float = 1.0
    pids: int = 512
    output_bytes: int = 16 * 1024 * 1024
    disk_mb: int = 4096
    """What the box may write to its disk."""
    seconds: float = 1800.0
    """Of the test command."""
    network: bool = False
    capabilities: tuple[str, ...] = ()
    """Given back to a box that starts without any, e.g. ``SYS_ADMIN`` for a browser's sandbox."""


class TestPlan(Model):
    """Everything the harness needs to know to test a patch in an image."""

    __test__ = False  # not a test class

    workdir: str = "/testbed"
    user: str = "assay"
    env: dict[str, str] = {}
    command: str
    """Shell text; its exit status is the tests' exit status."""
    restore: tuple[str, ...] = ()
    """Paths that are put back to the base commit's state after the model's patch, before the test patch."""
    test_patch: str = Field(default="", repr=False)
    """Applied after the restore; empty when ``command`` applies it itself."""
    report_format: str = "junit_xml"
    report_path: str = ""
    """File or folder in the container; empty when there is only a log."""
    log_format: str = "pytest_text"
    test_id: str = "node"
    """How labels name a test: a name of ``harness.reports.IDS``."""
    limits: Limits = Limits()
    canary: bool = False
    """Run tripwire tests beside the real ones; ``command`` then has a place for their file."""
    services: tuple[Service, ...] = ()
    environment: str = ""
    """Hash of what the image is made from, so that no verdict is taken over from another environment."""


@dataclass(frozen=True, slots=True)
class TreeRef:
    """A repository tree that a build needs: a commit of a repository or a release archive, perhaps with a patch."""

    repo: str
    commit: str = ""
    archive: Archive | None = None
    patch: str = ""


@dataclass(frozen=True, slots=True)
class ImageSpec:
    """An image as the content that determines it; "is it built" is a look-up by ``name``.

    ``name`` ends in a hash of everything else. ``files`` is the small text part of the build context, path to text.
    """

    name: str
    dockerfile: str
    parent: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    tree: TreeRef | None = None
    """Goes into the build context, too."""
    fetches: bool = False
    """Its build reaches package indexes, with the host's network settings."""
    labels: Mapping[str, str] = field(default_factory=dict)
