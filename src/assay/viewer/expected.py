"""The tests that decide an outcome, and their results."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from assay.harness.domain import PASSING, Evidence, Instance, Status, Verdict
from assay.harness.reports.lookup import lookup
from assay.harness.rulings.normalise import match_labels
from assay.viewer.failures import find_messages
from assay.viewer.text import Excerpt

ASKED = 200  # tests of an instance whose message is looked for
UNKNOWN = "unknown"
_ORDER = {"bad": 0, "other": 1, "good": 2}


@dataclass(frozen=True, slots=True)
class ExpectedTest:
    """A test and its status."""

    name: str
    status: str
    mood: str
    """``good``: it passed; ``bad``: it counts against the patch; ``other``: neither."""
    message: str = ""
    is_flaky: bool = False
    """It passed when it was run again."""


@dataclass(frozen=True, slots=True)
class TestGroup:
    """Tests with the same expectation; those against the patch first."""

    __test__ = False

    key: str
    title: str
    tests: tuple[ExpectedTest, ...]

    @property
    def bad(self) -> int:
        return sum(test.mood == "bad" for test in self.tests)

    @property
    def statuses(self) -> dict[str, int]:
        """The number of tests with each status, most frequent first."""
        return dict(Counter(test.status for test in self.tests).most_common())


def group_tests(
    instance: Instance | None,
    evidence: Evidence | None,
    verdict: Verdict,
    output: Excerpt | None,
    reports: Iterable[str],
) -> tuple[TestGroup, ...]:
    """Return the groups of tests of an instance; for an unknown one, the tests against the patch."""
    against = {*verdict.unfixed, *verdict.broken}
    names = {"fail_to_pass": verdict.unfixed, "pass_to_pass": verdict.broken}
    quarantined: tuple[str, ...] = ()
    if instance is not None:
        names = {"fail_to_pass": instance.fail_to_pass, "pass_to_pass": instance.pass_to_pass}
        quarantined = instance.quarantined
    listed = {*names["fail_to_pass"], *names["pass_to_pass"]}
    names |= {"others": tuple(test for test in verdict.broken if test not in listed), "quarantined": quarantined}
    tests = match_labels(instance, evidence.report.tests) if instance and evidence else {}
    statuses = {test: lookup(test, tests) for group in names.values() for test in group} if evidence else {}
    asked = [test for test, found in statuses.items() if test in against or not found <= PASSING][:ASKED]
    said = find_messages(asked, reports, f"{output.head}\n{output.tail}" if output else "") if asked else {}

    def describe(test: str, counts: bool) -> ExpectedTest:
        found = statuses.get(test, frozenset[Status]())
        mood = "bad" if counts and test in against else "good" if found and found <= PASSING else "other"
        return ExpectedTest(test, ", ".join(sorted(found)) or UNKNOWN, mood, said.get(test, ""), test in verdict.flaky)

    return tuple(
        TestGroup(key, TITLES[key], tuple(sorted(described, key=lambda test: _ORDER[test.mood])))
        for key, group in names.items()
        if (described := [describe(test, key != "quarantined") for test in group])
    )


TITLES = {
    "fail_to_pass": "Fail to pass",
    "pass_to_pass": "Pass to pass",
    "others": "Other tests that broke",
    "quarantined": "Quarantined: left out because their results vary",
}
