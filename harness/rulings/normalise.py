"""Results of a run under the names that labels use. Pure."""

from collections.abc import Mapping

from assay.harness import languages
from assay.harness.domain import Instance, Status
from assay.harness.languages.base import unchanged
from assay.harness.reports.base import worst


def normalise_results(instance: Instance, tests: Mapping[str, Status]) -> Mapping[str, Status]:
    """Normalise names by ``Language.normalise``, which removes parts that vary from run to run."""
    language = languages.find_or_none(instance.language)
    if language is None or language.normalise is unchanged:
        return tests
    return worst((language.normalise(name), status) for name, status in tests.items())


def match_labels(instance: Instance, tests: Mapping[str, Status]) -> Mapping[str, Status]:
    """Add the results of labels that equal a reported name after normalising both."""
    language, known = languages.find_or_none(instance.language), normalise_results(instance, tests)
    if language is None or known is tests:
        return tests
    labels = (label for label in (*instance.fail_to_pass, *instance.pass_to_pass) if label not in tests)
    found = {label: known[language.normalise(label)] for label in labels if language.normalise(label) in known}
    return {**tests, **found}
