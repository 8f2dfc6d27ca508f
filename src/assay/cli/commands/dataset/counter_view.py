"""``assay dataset counter``: forms and reasons, as a person sees them."""

from collections import Counter
from collections.abc import Sequence

from assay.cli import console
from assay.harness.names import count
from assay.jobs.counter import Countered, show_changes


def describe(each: Countered) -> dict[str, object]:
    return {
        "instance_id": each.instance_id,
        "forms": {test.label: test.form for test in each.counters.tests} if each.counters else {},
        "beside": [*each.counters.beside.names] if each.counters else [],
        "missing": each.counters.missing if each.counters else {},
        "error": each.error,
    }


def show_counters(made: Sequence[Countered], *, diff: bool) -> None:
    """Print how many labels have which form, why the others have none, and on demand the changed lines."""
    sets = [each.counters for each in made if each.counters]
    forms = Counter(test.form.value for each in sets for test in each.tests)
    reasons = Counter(reason for each in sets for reason in each.missing.values())
    for each in sets if diff else ():
        print("\n".join([f"# {each.instance_id}", *show_changes(each)]))
    total = forms.total() + reasons.total()
    rows = [(name, str(number), f"{number / total:.0%}") for name, number in (*forms.items(), *reasons.items())]
    console.print_rows(("tests to be fixed", "number", "share"), rows)
    for failed in (each for each in made if each.error):
        print(f"{failed.instance_id}: {failed.error}")
    beside = sum(len(each.beside.names) for each in sets)
    print(f"{count(len(sets), 'instance')}: {forms.total()} of {total} tests to be fixed have a counter-test")
    print(f"{beside} of these run beside the tests in every evaluation")
