"""Nouns of an evaluation's result: evidence, and the verdict that is graded from it."""

from enum import StrEnum

from assay.harness.domain.counter import CounterCount, CounterRun
from assay.harness.domain.environment import Card
from assay.harness.domain.rule_names import Rule
from assay.harness.domain.vocabulary import INFRASTRUCTURE, Environment, Model, Outcome, Status, TestedTree


class ApplyStatus(StrEnum):
    """Whether a patch could be applied to its tree."""

    APPLIED = "applied"
    EMPTY = "empty"
    REJECTED = "rejected"
    CONFLICT = "conflict"


FUZZED = "patch --fuzz=5"
"""The word in ``Apply.normalized`` for a patch that git refuses and this command applies."""


class Apply(Model):
    """Result of the patch gate and of ``git apply``."""

    status: ApplyStatus
    detail: str = ""
    normalized: tuple[str, ...] = ()
    """Changes to the patch's form before it was applied, e.g. an added final newline."""
    on_base: bool = False
    """Whether it was applied to files that were as the base commit has them: another patch that makes the same tree of
    the base commit makes this tree, too."""


class FailedPart(StrEnum):
    """The part that failed when an evaluation could not be completed."""

    NONE = ""
    ENVIRONMENT = "environment"
    INFRASTRUCTURE = "infrastructure"


class Channel(StrEnum):
    """Source of the test results."""

    REPORT = "report"
    LOG = "log"
    NONE = "none"


class TestReport(Model):
    """Status of every test with positive evidence, and the source of that evidence."""

    __test__ = False

    channel: Channel = Channel.NONE
    format: str = ""
    tests: dict[str, Status] = {}
    disagreements: tuple[str, ...] = ()
    """Tests for which report file and log disagree."""
    unprinted: tuple[str, ...] = ()
    """Tests of the report file that ran, and that the output does not name although the runner prints every one."""
    gap: str = ""
    """What the log counts and does not show, where the results are a log's; empty if nothing."""
    suite_ran: bool = False
    """Whether the suite ran to its end, even if its report names failures only, or nothing."""


class Tripwire(Model):
    """One of Assay's own tests: the status that it must have, and the statuses that it has."""

    expected: Status
    reported: Status = Status.MISSING
    """Status in the report file, or in the log where there is no report file."""
    printed: Status | None = None
    """Status in the output; None if the runner does not print such a test."""


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
    image: float = 0.0
    """Seconds before all of these, until the image was there."""
    again: float = 0.0
    """Seconds behind them: counter-tests that ran for themselves, and the gold patch where nothing passed."""
    cpu: float | None = None
    """CPU seconds of the test command and all that it started; None if they are not known."""


class WorkloadRun(Model):
    """One run of a workload, by root's clock."""

    seconds: float = 0.0
    """Time between the end of the set-up and the end of the workload; of n programs, n times the geometric mean."""
    outside: float = 0.0
    """Other seconds of the process: its start, imports, set-up, and whatever follows."""
    results: dict[str, str] = {}
    problem: str = ""
    """Why the run is of no use; empty if it is."""
    forged: bool = False
    """Whether the process wrote marks that the workload's driver does not write."""


class Evidence(Model):
    """All that grading needs; saved before it is graded."""

    instance_id: str
    image: str = ""
    image_digest: str = ""
    engine: str = ""
    environment: Environment | None = None
    """None for an external log."""
    cards: tuple[Card, ...] = ()
    """Cards that the container had."""
    user: str = ""
    strict: bool = False
    """Whether results that only a log shows, or that root's tests wrote, count as none."""
    apply: Apply
    exit_code: int | None = None
    """Exit code of the test command, as the engine reports it; None if it is not known."""
    timed_out: bool = False
    oom_killed: bool = False
    disk_exceeded: bool = False
    processes_limited: bool = False
    tripwires: dict[str, Tripwire] = {}
    """Assay's own tests by name; empty if none were run."""
    output_truncated: bool = False
    restored: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    """Files of the base tree that the tests ran without, since no copy of the repository had them."""
    rewritten: tuple[str, ...] = ()
    """Tests, and files that steer them, that changed while the tests ran."""
    report: TestReport = TestReport()
    timings: Timings = Timings()
    stopped_early: bool = False
    """Whether the fail-to-pass tests alone were run, and one of them failed: what the others do is not known."""
    trees: dict[TestedTree, "Evidence"] = {}
    """A test patch's run in each tree; the other fields are of the deciding run."""
    workload: dict[TestedTree, tuple[WorkloadRun, ...]] = {}
    """Timed runs in each tree; runs with the same index took turns."""
    measures: dict[str, float] = {}
    """Figures beside the outcome, by name, such as the coverage of the change."""
    counter: CounterRun | None = None
    """None if no counter-tests were asked for, or the patch would not be resolved anyway."""
    flags: tuple[str, ...] = ()
    error: str = ""
    failed_part: FailedPart = FailedPart.NONE


class Verdict(Model):
    """The result of one evaluation: whether the patch resolves its issue, and why."""

    instance_id: str
    outcome: Outcome
    rule: Rule = Rule.SWE_BENCH
    unfixed: tuple[str, ...] = ()
    """Fail-to-pass tests that the rule counts against the patch."""
    broken: tuple[str, ...] = ()
    """Pass-to-pass tests, and others, that the rule counts against the patch."""
    reason: str = ""
    environment: Environment | None = None
    """What the tests ran in; None if that is not known."""
    flags: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    """Tests of ``unfixed`` and ``broken`` that passed in a rerun of the same evaluation; the outcome stays."""
    measures: dict[str, float] = {}
    """Figures beside the outcome, by name, such as the coverage of the change."""
    counter: CounterCount | None = None
    """What became of the counter-tests; None if none were run."""
    cards: tuple[str, ...] = ()
    """Cards that the tests ran on, each with its driver and what gave it to the container."""

    @property
    def resolved(self) -> bool:
        """Whether the patch resolves the issue."""
        return self.outcome is Outcome.RESOLVED

    @property
    def reward(self) -> float | None:
        """1.0 for a resolved issue and 0.0 for any other patch; None if the infrastructure failed, not the patch."""
        return None if self.outcome in INFRASTRUCTURE else float(self.resolved)
