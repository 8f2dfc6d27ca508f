"""Generators of probes by name, in the order in which they are worth running.

A generator is a function from a ``base.Context`` to what it ``Contribution``. Third parties register theirs under the
entry-point group ``assay.generators``.
"""

from collections.abc import Iterable

from assay.harness.errors import PluginError
from assay.harness.patchdiff.contract import Context, Contribution, Generator
from assay.harness.plugins import resolve

__all__ = ["GENERATORS", "USUAL", "Context", "Contribution", "Generator", "find_generators"]

GENERATORS = {
    "suites": "assay.harness.patchdiff.generators.suites.generate:generate",
    "amplify": "assay.harness.patchdiff.generators.amplify:generate",
    "replay": "assay.harness.patchdiff.generators.replay:generate",
    "property": "assay.harness.patchdiff.generators.properties:generate",
    "llm": "assay.harness.patchdiff.generators.llm.generate:generate",
}
"""The cheapest first."""
USUAL = ("suites", "amplify", "replay")
"""Need neither a model nor another package."""


def find_generators(names: Iterable[str]) -> dict[str, Generator]:
    """Return generators by name, cheapest first; raises PluginError for an unknown one."""
    wanted = list(dict.fromkeys(names))
    if not wanted:
        raise PluginError(f"no generator is named; known are {', '.join(GENERATORS)}")
    order = list(GENERATORS)
    wanted.sort(key=lambda name: order.index(name) if name in order else len(order))
    return {name: resolve("generator", name, GENERATORS) for name in wanted}
