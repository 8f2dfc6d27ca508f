"""``assay dataset counter``: forms and reasons, as a person sees them."""

from collections import Counter
from collections.abc import Sequence

from assay.cli import console
from assay.harness.names import count
from assay.jobs.counter import Countered, show_changes


def describe(each: Countered) -> dict[str, object]:
    made = each.counters
    return {
        "instance_id": each.instance_id,
        "forms": {test.label: test.form for test in made.tests} if made else {},
        "beside": [*made.beside.names] if made else [],
        "missing": made.missing if made else {},
        "compile_only": made.compile_only if made else (),
        "sealed": made.sealed.labels if made else (),
        "not_sealed": made.sealed.missing if made else {},
        "error": each.error,
    }


def show_counters(made: Sequence[Countered], *, diff: bool) -> None:
    """Print how many labels have which form, why the others have none, and on demand the changed lines."""
    sets = [each.counters for each in made if each.counters]
    forms = Counter(test.form.value for each in sets for test in each.tests)
    reasons = Counter(reason for each in sets for reason in each.missing.values())
    for each in sets if diff else ():
        print("\n".join([f"# {each.instance_id}", *show_changes(each)]))
    total, sealed = forms.total() + reasons.total(), sum(len(each.sealed.labels) for each in sets)
    unsealed = Counter(reason for each in sets for reason in each.sealed.missing.values())
    seals = Counter({"sealed": sealed}) + unsealed
    for title, found in (("tests to be fixed", (forms, reasons)), ("without their answers", (seals,))):
        rows = [(name, str(number), f"{number / total:.0%}") for each in found for name, number in each.items()]
        console.print_rows((title, "number", "share"), rows)
    for failed in (each for each in made if each.error):
        print(f"{failed.instance_id}: {failed.error}")
    beside = sum(len(each.beside.names) for each in sets)
    have = f"{forms.total()} of {total} tests to be fixed have a counter-test, {sealed} are sealed"
    print(f"{count(len(sets), 'instance')}: {have}")
    print(f"{beside} counter-tests run beside the tests in every evaluation")
