"""Stability of tests over repeated runs; quarantine, and the mark ``flaky``. Pure, except for reading one file.

Only graded runs count: a run that ran out of time or memory says nothing about single tests.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import Field, ValidationError

from assay.harness.domain import GRADED, PASSING, Evidence, Instance, Model, Outcome, Status, Verdict
from assay.harness.errors import DataError
from assay.harness.grading.grade import grade
from assay.harness.reports import lookup
from assay.harness.reports.base import SEVERITY
from assay.harness.rulings.normalise import match_labels, normalise_results


class Seen(Model):
    """Status of one test in each graded run."""

    gold: tuple[Status, ...] = ()
    null: tuple[Status, ...] = ()

    @property
    def stable(self) -> bool:
        """Whether all runs of the same patch agree, as far as grading distinguishes statuses."""
        return all(len(set(map(_simplify, statuses))) <= 1 for statuses in (self.gold, self.null))


class Stability(Model):
    """Results of repeated runs of an instance's two controls."""

    instance_id: str
    assay_version: str = ""
    engine: dict[str, str] = Field(default_factory=dict)
    image_digests: tuple[str, ...] = ()
    gold: tuple[Outcome, ...] = ()
    null: tuple[Outcome, ...] = ()
    tests: dict[str, Seen] = Field(default_factory=dict)
    quarantined: tuple[str, ...] = ()
    """Expected tests that are not stable; grading ignores them."""

    @property
    def unstable(self) -> tuple[str, ...]:
        """All tests, expected or not, with different results."""
        return tuple(name for name, seen in self.tests.items() if not seen.stable)

    def keep_unstable_tests(self) -> "Stability":
        return self.model_copy(update={"tests": {name: self.tests[name] for name in self.unstable}})


class StabilityFile(Model):
    """Stability of a whole data set, as ``assay dataset validate`` records it."""

    dataset: str = ""
    instances: tuple[Stability, ...] = ()


def measure(
    instance: Instance,
    gold: Sequence[Evidence | None],
    null: Sequence[Evidence | None],
    *,
    assay_version: str = "",
    engine: Mapping[str, str] | None = None,
) -> Stability:
    """Compare repeated runs of an instance that has all its labels; None is a run without evidence."""
    graded = {
        side: [each for each in runs if each is not None and grade(instance, each).outcome in GRADED]
        for side, runs in (("gold", gold), ("null", null))
    }
    reports = {
        side: [match_labels(instance, normalise_results(instance, each.report.tests)) for each in runs]
        for side, runs in graded.items()
    }
    expected = (*instance.fail_to_pass, *instance.pass_to_pass)
    names = sorted({*expected, *(name for runs in reports.values() for tests in runs for name in tests)})
    tests = {  # a shortened label has the worst status of its tests
        name: Seen(
            **{
                side: tuple(max(lookup(name, tests), key=SEVERITY.index) for tests in runs)
                for side, runs in reports.items()
            }
        )
        for name in names
    }
    digests = {each.image_digest for each in (*gold, *null) if each is not None and each.image_digest}
    return Stability(
        instance_id=instance.id,
        assay_version=assay_version,
        engine=dict(engine or {}),
        image_digests=tuple(sorted(digests)),
        gold=outcomes(instance, gold),
        null=outcomes(instance, null),
        tests=tests,
        quarantined=tuple(name for name in expected if not tests[name].stable),
    )


def outcomes(instance: Instance, runs: Iterable[Evidence | None]) -> tuple[Outcome, ...]:
    """Grade each run; a run without evidence is an infrastructure error."""
    return tuple(Outcome.INFRA_ERROR if each is None else grade(instance, each).outcome for each in runs)


def quarantine(instance: Instance, names: Collection[str]) -> Instance:
    """Move the named tests from an instance's labels to ``quarantined``."""
    left_out = tuple(test for test in (*instance.fail_to_pass, *instance.pass_to_pass) if test in names)
    if not left_out:
        return instance
    fixed, kept = (
        tuple(test for test in tests if test not in names) for tests in (instance.fail_to_pass, instance.pass_to_pass)
    )
    return instance.model_copy(update={"fail_to_pass": fixed, "pass_to_pass": kept, "quarantined": left_out})


def mark_flaky(verdict: Verdict, reruns: Iterable[Verdict]) -> Verdict:
    """Mark tests that passed in a rerun of the same evaluation; outcome, reason and failing tests stay."""
    against = [{*each.unfixed, *each.broken} for each in reruns if each.outcome in GRADED]
    flaky = tuple(test for test in failing(verdict) if any(test not in tests for tests in against))
    flags = tuple(flag for flag in verdict.flags if flag != "flaky")
    return verdict.model_copy(update={"flaky": flaky, "flags": (*flags, "flaky") if flaky else flags})


def failing(verdict: Verdict) -> tuple[str, ...]:
    return (*verdict.unfixed, *verdict.broken) if verdict.outcome is Outcome.UNRESOLVED else ()


def read_stability(path: Path) -> StabilityFile:
    """Read a file of ``assay dataset validate``; raises DataError."""
    try:
        return StabilityFile.model_validate_json(path.read_bytes())
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=str(path)) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise DataError(f"is no stability file: {first['msg']}", file=str(path), field=field) from None


def _simplify(status: Status) -> str:
    if status in PASSING:
        return "pass"
    return "skip" if status is Status.SKIPPED else "fail"
