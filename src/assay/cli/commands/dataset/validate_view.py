"""``assay dataset validate``: validations, as a person sees them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.cli import console
from assay.cli.commands.dataset.counter_view import describe
from assay.harness.domain import Outcome
from assay.harness.grading.controls import Validation
from assay.harness.names import count
from assay.jobs.counter import Countered

SHOWN = 20  # lines of one kind that are printed for an instance


@dataclass(frozen=True, slots=True)
class MeasuredFolder:
    """The folder of measured instances, and the problems of the ones that are not in it."""

    folder: Path
    problems: Mapping[str, str]


def print_json(
    results: Sequence[Validation], stability: Path, written: MeasuredFolder | None, made: Sequence[Countered] | None
) -> None:
    about: dict[str, object] = {
        "instances": [{**each.model_dump(mode="json"), "valid": each.valid} for each in results]
    }
    about["stability"] = str(stability)
    if written:
        about |= {"written": str(written.folder), "not_written": written.problems}
    if made is not None:
        about["counter_tests"] = [describe(each) for each in made]
    console.print_json(about)


def show(
    results: Sequence[Validation], stability: Path, written: MeasuredFolder | None, made: Sequence[Countered] | None
) -> None:
    """Print a row for each instance, then the labels and the tests that do not hold, and what was made."""
    columns = ["instance", "valid", "gold", "null", "fail to pass", "pass to pass", "labels that differ", "unstable"]
    rows = [
        [
            result.instance_id,
            _answer(result),
            _outcomes(result.gold),
            _outcomes(result.null),
            str(len(result.fail_to_pass)),
            str(len(result.pass_to_pass)),
            str(len(result.label_differences)),
            str(len(result.unstable)),
        ]
        for result in results
    ]
    counted = {each.instance_id: _count_counters(each) for each in made or ()}
    if made is not None:
        columns.append("counter-tests")
        for row in rows:
            row.append(counted.get(row[0], "none"))
    console.print_rows(columns, rows)
    _show_doubts(results, made or ())
    if written:
        for instance_id, problem in written.problems.items():
            print(f"  {instance_id}: not written, {problem.strip().splitlines()[0]}")
        total = len(results)
        print(f"{total - len(written.problems)} of {count(total, 'instance')} with measured labels: {written.folder}")
    print(f"What each test did in each run: {stability}")


def _show_doubts(results: Sequence[Validation], made: Sequence[Countered]) -> None:
    for result in results:
        for line in result.label_differences[:SHOWN]:
            print(f"  {result.instance_id}: {line}")
        for test in result.unstable[:SHOWN]:
            quarantined = ", quarantined" if test in result.quarantined else ""
            print(f"  {result.instance_id}: unstable{quarantined}: {test}")
    for label, reason in (item for each in made if each.counters for item in each.counters.missing.items()):
        print(f"  no counter-test: {label}: {reason}")


def _count_counters(made: Countered) -> str:
    if made.counters is None:
        return "none"
    return f"{len(made.counters.tests)} of {len(made.counters.tests) + len(made.counters.missing)}"


def _answer(result: Validation) -> str:
    if result.valid:
        return "yes"
    return "after quarantine" if result.valid_after_quarantine else "no"


def _outcomes(outcomes: Sequence[Outcome]) -> str:
    """Join the outcomes of several runs, equal ones as a number and a name."""
    return ", ".join(
        f"{count} {outcome}" if len(set(outcomes)) > 1 else str(outcome) for outcome, count in Counter(outcomes).items()
    )
