"""Files that partial clones lack: with which of them an evaluation can do without. Pure."""

from assay.harness import languages
from assay.harness.domain import Instance, Recipe
from assay.harness.errors import EnvironmentFailure
from assay.harness.patches.diff import find_touched_paths
from assay.instances.environments.pins.manifest_lock import decides_packages
from assay.instances.environments.suite import find_file

MOST = 25
"""Files of one tree; a clone that lacks more does not lack large files alone."""


def check_lacking(instance: Instance, recipe: Recipe, patch: str = "") -> None:
    """Raise EnvironmentFailure if a file that an instance's tree lacks is part of what is evaluated."""
    if len(instance.lacking) > MOST:
        problem = f"lack {len(instance.lacking)} files of {instance.base_commit[:12]}, {instance.lacking[0]} among them"
        raise EnvironmentFailure(f"the clones of {instance.repo} {problem}; fetch what the filter left out")
    patches = (patch, instance.gold_patch, instance.test_patch, instance.base.patch if instance.base else "")
    touched = {path for each in patches if instance.lacking for path in find_touched_paths(each)}
    language = languages.find(recipe.language)
    tests = tuple(find_file(label, language) for label in (*instance.fail_to_pass, *instance.pass_to_pass))
    for path in instance.lacking:
        reasons = {
            "a patch touches it": path in touched,
            "it has expected tests": any(f"/{path}".endswith(f"/{test}") for test in tests if test),
            "it says which packages are needed": decides_packages(path, recipe),
        }
        if needed := [reason for reason, holds in reasons.items() if holds]:
            problem = f"the clones of {instance.repo} lack {path}, and {needed[0]}"
            raise EnvironmentFailure(f"{problem}; fetch what the filter left out")
