"""The nouns of Assay.

Pydantic models for what crosses a file boundary, slotted dataclasses for what stays inside. Everything is frozen and
nothing here does input or output or imports another module of Assay.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator


def _climbs_no_folder(name: str) -> str:
    if ".." in name:
        raise ValueError("must not hold '..'")
    return name


def _stays_in_the_tree(path: str) -> str:
    parts = path.lower().replace("\\", "/").split("/")
    if not {"", "..", ".git"}.isdisjoint(parts) or ":" in parts[0]:
        raise ValueError(f"{path[:60]!r} is no path inside the tree")
    return path


InstanceId = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$"), AfterValidator(_climbs_no_folder)
]
"""Also the name of a folder."""
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]

UNKNOWN_TIME = datetime(1970, 1, 1, tzinfo=UTC)
"""Stands for "nobody tells" where a time is needed; older than any repository."""


class Model(BaseModel):
    """Base of everything that is written to or read from a file."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Status(StrEnum):
    """What happened to one test."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    XFAIL = "xfail"
    MISSING = "missing"


class Outcome(StrEnum):
    """What came of one evaluation; closed, and never derived from the text of a log."""

    RESOLVED = "resolved"
    UNRESOLVED = "unresolved"
    EMPTY_PATCH = "empty_patch"
    PATCH_REJECTED = "patch_rejected"
    PATCH_CONFLICT = "patch_conflict"
    NOT_RUN = "not_run"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    OUTPUT_LIMIT = "output_limit"
    TAMPERED = "tampered"
    ENV_ERROR = "env_error"
    INFRA_ERROR = "infra_error"


INFRASTRUCTURE = frozenset({Outcome.ENV_ERROR, Outcome.INFRA_ERROR})
"""Outcomes that say nothing about the patch."""


class Rule(StrEnum):
    """Which benchmark's definition of "resolved" an instance is graded by."""

    SWE_BENCH = "swe-bench"
    SWE_BENCH_FAIL_ONLY = "swe-bench-fail-only"
    MULTI_SWE_BENCH = "multi-swe-bench"
    SWE_POLYBENCH = "swe-polybench"
    SWE_BENCH_LIVE = "swe-bench-live"
    SWE_REBENCH = "swe-rebench"
    SWE_SMITH = "swe-smith"
    R2E = "r2e"


STAGED = frozenset({Rule.MULTI_SWE_BENCH, Rule.R2E})
"""Rules that compare with earlier runs (``Stages``)."""


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
    """Of what the test command prints; empty for what the instance's labels were made from."""
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


class DatasetRef(Model):
    """Which data set an instance came from, and which state of it."""

    name: str
    revision: str = ""


class PatchedCommit(Model):
    """A base tree that is a commit with a patch on top, such as SWE-smith's: sound code and the bug put into it."""

    commit: str
    patch: str = Field(repr=False)


class Asset(Model):
    """A binary file of the tests, which a textual patch cannot carry: put into the tree after the test patch."""

    path: Annotated[str, AfterValidator(_stays_in_the_tree)]
    """Where in the tree it belongs."""
    url: str
    """Where to fetch it; a ``file`` URL when the data set has it at hand."""
    sha256: Sha256 | None = None


class Stages(Model):
    """What each test did in the runs that a data set was made from; a test that a run does not name was not there."""

    run: dict[str, Status] = {}
    """At the base commit."""
    test: dict[str, Status] = {}
    """With the test patch."""
    fix: dict[str, Status] = {}
    """With the test patch and the gold patch."""


class Origin(Model):
    """What a row tells that no field of an instance holds, so that the row can be written again."""

    dialect: str
    columns: tuple[tuple[str, str], ...]
    """Name of a column, and its value as JSON text: never looked into, never run."""


class Instance(Model):
    """One issue of one repository, with the patch that resolved it and the tests that show it."""

    id: InstanceId
    repo: str
    base_commit: str = ""
    archive: Archive | None = None
    """Where the base tree comes from when it is not a commit."""
    base: PatchedCommit | None = None
    """The base tree when it is a commit with a patch on top; ``base_commit`` is empty then."""
    language: str = "python"
    problem_statement: str = Field(repr=False)
    gold_patch: str = Field(repr=False)
    test_patch: str = Field(repr=False)
    fail_to_pass: tuple[str, ...] = Field(repr=False)
    pass_to_pass: tuple[str, ...] = Field(repr=False)
    quarantined: tuple[str, ...] = Field(default=(), repr=False)
    """Tests taken out of the two lists above, since they do not come out the same every time."""
    created_at: datetime
    """``UNKNOWN_TIME`` if nobody tells."""
    version: str = ""
    hints: str = Field(default="", repr=False)
    environment: PublishedImage | Recipe | None = Field(default=None, repr=False)
    """None: the recipe of the repository."""
    log_format: str = ""
    """Report format of the logs that the labels were made from; empty if nobody tells."""
    test_id: str = ""
    """How the labels name a test (``harness.reports.IDS``); empty if nobody tells."""
    rule: Rule = Rule.SWE_BENCH
    stages: Stages | None = Field(default=None, repr=False)
    """For the rules that compare with earlier runs."""
    assets: tuple[Asset, ...] = Field(default=(), repr=False)
    origin: Origin | None = Field(default=None, repr=False)
    dataset: DatasetRef = DatasetRef(name="")

    @model_validator(mode="after")
    def _expectations_are_disjoint(self) -> "Instance":
        both = set(self.fail_to_pass) & set(self.pass_to_pass)
        if both:
            message = f"FAIL_TO_PASS and PASS_TO_PASS share {sorted(both)[0]!r}"
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _rule_has_its_stages(self) -> "Instance":
        if self.rule in STAGED and self.stages is None:
            message = f"the rule {self.rule} compares with earlier runs, but there are no stages"
            raise ValueError(message)
        return self


class Prediction(Model):
    """A patch that somebody or something proposes for an instance."""

    instance_id: str
    model: str = ""
    patch: str = Field(default="", repr=False)


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


class ApplyStatus(StrEnum):
    """How a patch met its tree."""

    APPLIED = "applied"
    EMPTY = "empty"
    REJECTED = "rejected"
    CONFLICT = "conflict"


class Apply(Model):
    """The patch gate's and ``git apply``'s answer."""

    status: ApplyStatus
    detail: str = ""
    normalized: tuple[str, ...] = ()
    """What was changed in the patch's form before it was applied, e.g. a missing final newline."""


class FailedPart(StrEnum):
    """What broke when an evaluation could not be completed."""

    NONE = ""
    ENVIRONMENT = "environment"
    INFRASTRUCTURE = "infrastructure"


class Channel(StrEnum):
    """Where the test results were read from."""

    REPORT = "report"
    LOG = "log"
    NONE = "none"


class TestReport(Model):
    """Every test that has positive evidence, and where that evidence lay."""

    __test__ = False

    channel: Channel = Channel.NONE
    format: str = ""
    tests: dict[str, Status] = {}
    disagreements: tuple[str, ...] = ()
    """Tests that the report file and the log tell differently."""
    suite_ran: bool = False
    """The suite ran to its end, although its report may name failures only, or nothing."""


class Timings(Model):
    """Seconds of each step of one evaluation."""

    create: float = 0.0
    start: float = 0.0
    deliver: float = 0.0
    apply: float = 0.0
    test: float = 0.0
    collect: float = 0.0
    remove: float = 0.0
    total: float = 0.0


class Evidence(Model):
    """All that grading needs; saved before it is graded."""

    instance_id: str
    image: str = ""
    image_digest: str = ""
    engine: str = ""
    user: str = ""
    apply: Apply
    exit_code: int | None = None
    """Of the test command, as the engine tells it."""
    timed_out: bool = False
    oom_killed: bool = False
    disk_exceeded: bool = False
    processes_limited: bool = False
    canaries: dict[str, Status] = {}
    """Tripwire tests by the status that they must have; empty when none were run. Their results are in the report."""
    output_truncated: bool = False
    restored: tuple[str, ...] = ()
    report: TestReport = TestReport()
    timings: Timings = Timings()
    flags: tuple[str, ...] = ()
    error: str = ""
    """What broke, when the environment or the infrastructure did."""
    failed_part: FailedPart = FailedPart.NONE


class Verdict(Model):
    """The answer."""

    instance_id: str
    outcome: Outcome
    rule: Rule = Rule.SWE_BENCH
    unfixed: tuple[str, ...] = ()
    """Fail-to-pass tests that do not pass."""
    broken: tuple[str, ...] = ()
    """Pass-to-pass tests that do not pass any more."""
    reason: str = ""
    flags: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    """Tests of ``unfixed`` and ``broken`` that passed when the same evaluation was run again; the outcome stays."""

    @property
    def resolved(self) -> bool:
        """Whether the patch resolves the issue."""
        return self.outcome is Outcome.RESOLVED


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
