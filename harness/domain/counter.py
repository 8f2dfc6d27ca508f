"""Nouns of counter-tests: expected tests with another expected value, which must fail."""

from collections import Counter
from enum import StrEnum
from hashlib import sha256

from pydantic import Field

from assay.harness.domain.vocabulary import Answered, CounterForm, Model, Status

Edit = tuple[int, int, str]
"""First byte of a file, the byte behind the last one, and the text in their place."""


class NoCounter(StrEnum):
    """Why a fail-to-pass test has no counter-test."""

    NO_FILE = "the test patch has no file whose assertions are known"
    SHARED = "the gold patch changes the files of the test patch"
    NO_TEST = "its test is not found in the files of the test patch"
    NO_ASSERTION = "its test has no assertion that is known"
    VACUOUS = "no counter-test of it fails with the gold patch"
    UNSTABLE = "its counter-test does not fail in every run"
    NOT_APPLIED = "the test command applies the test patch itself"


class CounterTest(Model):
    """The edits that make an expected test false for whoever satisfies the original."""

    label: str
    form: CounterForm
    edits: dict[str, tuple[Edit, ...]]
    """Keys are paths of hidden test files."""


class Siblings(Model):
    """Copies of tests beside their originals, in the same session.

    A mark such as ``@snake:0@`` stands for a name that is drawn for each run.
    """

    files: dict[str, str] = Field(default={}, repr=False)
    """Whole texts by path in the tree; both may have marks."""
    names: dict[str, str] = {}
    """A part of the full id of each label's copy; it begins with one of ``words``."""
    words: tuple[str, ...] = ()
    """Words of names and files that only results of the copies have."""
    argument: str = ""
    """Follows the argument for tripwires in the test command: what makes the runner take the copies."""
    targets: tuple[str, ...] = ()
    """Follow the plan's targets in the test command."""


class NoSeal(StrEnum):
    """Why a fail-to-pass test cannot be run without its answer."""

    NO_CONSTANT = "its assertion compares with no constant value"
    ELSEWHERE = "its answer stands elsewhere in the tests"
    NO_ANSWER = "its value has no canonical form, or varies"
    UNSTABLE = "its test without the answer does not pass in every run with the gold patch"
    SAME = "the base commit gives the same answer"


class Seal(Model):
    """An assertion in whose place a hidden test records what it compares."""

    number: int
    """Its name in the records."""
    test: str
    """Last part of its test's name."""
    labels: tuple[str, ...]
    """Fail-to-pass tests that it is in."""
    flipping: tuple[str, ...] = ()
    """Labels that fail at it without the fix."""
    alike: bool
    """Whether the types of sequences do not count."""
    certain: bool
    """Whether every pass through the test reaches it."""
    answers: tuple[str, ...] = Field(repr=False)
    """What it was compared with at each pass, in canonical form; never in a container."""


class SealSet(Model):
    """The hidden tests of an instance without the answers to some of them, measured with base and gold."""

    files: dict[str, str] = Field(default={}, repr=False)
    """Whole test files, by path."""
    seals: tuple[Seal, ...] = ()
    missing: dict[str, NoSeal] = {}
    """Fail-to-pass tests that are not sealed, and why."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels that are sealed: what fails at a seal without the fix."""
        return tuple(sorted({label for seal in self.seals for label in seal.flipping}))


class CounterSet(Model):
    """The counter-tests of an instance, each measured with base and gold."""

    instance_id: str
    environment: str
    """The one of the test plan that they were measured with."""
    files: dict[str, str] = Field(repr=False)
    """The hidden test files that are edited, by path."""
    tests: tuple[CounterTest, ...] = ()
    respelled: dict[str, tuple[Edit, ...]] = {}
    """Edits of these files after which the tests ask for the same, in another spelling."""
    seed: int = 0
    """What the other values and spellings were drawn with."""
    missing: dict[str, NoCounter] = {}
    """Fail-to-pass tests without one, and why."""
    compile_only: tuple[str, ...] = ()
    """Fail-to-pass tests that pass with gold's signatures and bodies that only fail."""
    beside: Siblings = Siblings()
    """The ones that behave with gold when they run after their originals, in the same session."""

    sealed: SealSet = SealSet()

    @property
    def digest(self) -> str:
        """Hash of all that they are."""
        return sha256(self.model_dump_json().encode()).hexdigest()


class CounterCount(Model):
    """How many counter-tests there were, and how many of them failed, as they must."""

    kind: str
    forms: dict[CounterForm, int] = {}
    failed: int = 0
    without: int = 0
    """Fail-to-pass tests without a counter-test."""


class SealedRun(Model):
    """What a patch answered to the tests whose answers were taken out."""

    runs: tuple[dict[str, Answered], ...] = ()
    """What came of each label in each run."""
    missing: dict[str, NoSeal] = {}
    """Fail-to-pass tests that are not sealed, and why."""

    @property
    def wrong(self) -> tuple[str, ...]:
        """Labels without the right answer in every one of several runs."""
        first = self.runs[0] if len(self.runs) > 1 else {}
        return tuple(label for label in first if all(run[label] is Answered.WRONG for run in self.runs))

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        """Labels with a wrong answer in some runs, or whose test did not run."""
        bad = {label for run in self.runs for label, answer in run.items() if answer in _DOUBTFUL}
        return tuple(sorted(bad - {*self.wrong}))

    @property
    def unknown(self) -> tuple[str, ...]:
        """Labels whose answer cannot be compared, and labels that are not sealed."""
        unknown = {label for run in self.runs for label, answer in run.items() if answer is Answered.UNKNOWN}
        return tuple(sorted({*self.missing} | unknown))


_DOUBTFUL = frozenset({Answered.WRONG, Answered.NOT_RUN})


class CounterRun(Model):
    """What became of a patch's counter-tests."""

    kind: str
    """``pair``: in a container of their own, in the place of the originals.

    ``beside``: after them, in the same session; where one passed, the runs behind the first are those of a pair.
    ``sealed``: so, and in one more the originals without their answers.
    """
    forms: dict[str, CounterForm] = {}
    """Keys are labels."""
    respelled: tuple[str, ...] = ()
    """Hidden test files that the graded run had in another spelling."""
    seed: str = ""
    """Draws the names of tests beside their originals, or the values and spellings of a pair."""
    runs: tuple[dict[str, Status], ...] = ()
    """Status by label in each run. One that is missing did not run; all others must have failed."""
    missing: dict[str, NoCounter] = {}
    """Fail-to-pass tests without a counter-test, and why."""
    compile_only: tuple[str, ...] = ()
    not_beside: tuple[str, ...] = ()
    """Tests whose counter-test is known, and cannot run beside them."""
    sealed: SealedRun | None = None
    """None if no tests without answers were asked for."""

    @property
    def passed(self) -> tuple[str, ...]:
        """Labels whose counter-test passed in two runs."""
        return tuple(label for label in self.forms if self._count(label, Status.PASSED) > 1)

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        """Labels whose counter-test passed once, or did not run."""
        others = (label for label in self.forms if label not in self.passed)
        return tuple(label for label in others if self._count(label, Status.FAILED) < len(self.runs))

    def count(self) -> CounterCount | None:
        """Count the counter-tests; None if none was looked for, since the originals failed."""
        if not (self.forms or self.missing):
            return None
        failed = sum(not {label}.intersection((*self.passed, *self.unconfirmed)) for label in self.forms)
        forms = dict(sorted(Counter(self.forms.values()).items()))
        return CounterCount(kind=self.kind, forms=forms, failed=failed, without=len(self.missing))

    def _count(self, label: str, status: Status) -> int:
        return sum(run.get(label, Status.MISSING) is status for run in self.runs)
