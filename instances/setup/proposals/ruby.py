"""The recipe to try first for a Ruby project. Pure."""

import re
from collections.abc import Mapping

from assay.harness.domain import Recipe
from assay.instances.setup.debian_libraries import add_libraries
from assay.instances.setup.gem_manifests import Bundled, read_bundled
from assay.instances.setup.language_version import IN_USE, choose_version
from assay.instances.setup.project_facts import Facts

SPEC, TEST = re.compile(r"(.+/)?spec/.*_spec\.rb"), re.compile(r"test/(.+/)?(test_\w+|\w+_test)\.rb")
PROGRAMS = {"minitest": "minitest.rb", "test_unit": "test_unit.rb"}
TEST_UNIT = re.compile(r"""^\s*require ["']test[/-]unit["']""", re.M)


def propose(facts: Facts, recipe: Recipe) -> Recipe:
    bundled, project = read_bundled(facts.project), facts.project
    named = bundled.versions or facts.versions
    # Debian freezes its gems a year after a Ruby that it takes: the newest one of the day has the nearest gems.
    day = project.date.date() if facts.has_index else project.date.date() + IN_USE
    toolchain = choose_version("ruby", facts.available, day, requires=bundled.requires, named=named)
    runner = _choose_runner(facts, bundled)
    gems = (*bundled.gems, "cucumber") if runner == "cucumber" else bundled.gems
    recipe = recipe.model_copy(update={"toolchain": toolchain, "uses_index": facts.has_index, **_command(runner)})
    return recipe if facts.has_index else add_libraries(recipe, gems, facts)


def _choose_runner(facts: Facts, bundled: Bundled) -> str:
    """Return the runner of the folder with most tests; features are Cucumber's, and count where there are no others."""
    paths = facts.project.paths
    specs, tests = (sum(bool(pattern.fullmatch(path)) for path in paths) for pattern in (SPEC, TEST))
    if not specs and not tests:
        return "cucumber" if any(path.endswith(".feature") for path in paths) else ""
    rspec = ".rspec" in paths or any(name.startswith("rspec") for name in bundled.gems)
    if specs >= tests and (rspec or "minitest" not in bundled.gems):
        return ""
    helpers = "\n".join(text for _, text in facts.project.matching("test/*helper.rb"))
    uses_test_unit = TEST_UNIT.search(helpers) or ("test-unit" in bundled.gems and "minitest" not in bundled.gems)
    return "test_unit" if uses_test_unit else "minitest"


def _command(runner: str) -> Mapping[str, str]:
    """Return the fields that start a runner other than the language's usual one."""
    if runner == "cucumber":
        command = "exec /opt/assay/with_gems /usr/bin/cucumber --format pretty --format junit --out {reports} {files}"
        return {"test_command": command, "report_format": "junit_xml"}
    if not runner:
        return {}
    program = f"/usr/bin/ruby /opt/assay/{PROGRAMS[runner]}"
    return {
        "runner": runner,
        "test_command": f"ASSAY_TRIPWIRES={{tripwires}} exec /opt/assay/with_gems {program} {{report}} {{files}}",
        "report_format": "junit_xml",
        "log_format": "minitest_text",
    }
