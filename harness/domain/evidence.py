"""What came of an evaluation."""

from enum import StrEnum

from assay.harness.domain.vocabulary import Model, Outcome, Rule, Status


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
