"""Generators of probes by name, in the order in which they are worth running.

Each module holds a ``contract.Generator`` named ``GENERATOR``. Third parties register theirs under the entry-point
group ``assay.generators``.
"""

from collections.abc import Iterable

from assay.harness.errors import PluginError
from assay.harness.patchdiff.contract import Generator
from assay.harness.plugins import Registry

GENERATORS = Registry[Generator](
    "generator",
    "assay.generators",
    {
        "suites": "assay.harness.patchdiff.generators.suites.generate:GENERATOR",
        "compose": "assay.harness.patchdiff.generators.compose:GENERATOR",
        "amplify": "assay.harness.patchdiff.generators.amplify:GENERATOR",
        "replay": "assay.harness.patchdiff.generators.replay:GENERATOR",
        "llm": "assay.harness.patchdiff.generators.llm.generate:GENERATOR",
    },
    needs=Generator,
)
"""The cheapest first."""
USUAL = ("suites", "compose", "amplify", "replay")  # need neither a model nor another package


def find_generators(names: Iterable[str]) -> dict[str, Generator]:
    """Return generators by name, cheapest first; raises PluginError for an unknown one."""
    wanted = list(dict.fromkeys(names))
    if not wanted:
        raise PluginError(f"no generator is named; known are {', '.join(GENERATORS)}")
    order = list(GENERATORS)
    wanted.sort(key=lambda name: order.index(name) if name in order else len(order))
    return {name: GENERATORS.resolve(name) for name in wanted}
