"""``assay dataset validate``: validations, as a person sees them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.cli import console
from assay.harness.domain import Outcome
from assay.harness.grading.controls import Validation
from assay.harness.names import count

SHOWN = 20  # lines of one kind that are printed for an instance


def show(results: Sequence[Validation]) -> None:
    """Print a row for each instance, then the labels and the tests that do not hold."""
    columns = ("instance", "valid", "gold", "null", "fail to pass", "pass to pass", "labels that differ", "unstable")
    rows = [
        (
            result.instance_id,
            _answer(result),
            _outcomes(result.gold),
            _outcomes(result.null),
            str(len(result.fail_to_pass)),
            str(len(result.pass_to_pass)),
            str(len(result.label_differences)),
            str(len(result.unstable)),
        )
        for result in results
    ]
    console.print_rows(columns, rows)
    for result in results:
        for line in result.label_differences[:SHOWN]:
            print(f"  {result.instance_id}: {line}")
        for test in result.unstable[:SHOWN]:
            quarantined = ", quarantined" if test in result.quarantined else ""
            print(f"  {result.instance_id}: unstable{quarantined}: {test}")


def show_measured(folder: Path, total: int, problems: Mapping[str, str]) -> None:
    """Print the folder of the measured instances, and the problems of the others."""
    for instance_id, problem in problems.items():
        print(f"  {instance_id}: not written, {problem.strip().splitlines()[0]}")
    print(f"{total - len(problems)} of {count(total, 'instance')} with measured labels: {folder}")


def _answer(result: Validation) -> str:
    if result.valid:
        return "yes"
    return "after quarantine" if result.valid_after_quarantine else "no"


def _outcomes(outcomes: Sequence[Outcome]) -> str:
    """Join the outcomes of several runs, equal ones as a number and a name."""
    return ", ".join(
        f"{count} {outcome}" if len(set(outcomes)) > 1 else str(outcome) for outcome, count in Counter(outcomes).items()
    )
