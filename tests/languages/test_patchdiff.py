"""PatchDiff on projects of other languages than Python: a wrong patch is flagged, a right one is not."""

from pathlib import Path

import pytest

from assay.harness.domain import PatchDiffFinding, PatchDiffResult, Prediction
from assay.harness.engines.docker import DockerEngine
from assay.harness.evaluation.evaluate import Task
from assay.harness.patchdiff.assess import assess
from assay.harness.patchdiff.contract import Settings
from assay.harness.patchdiff.decide import is_flagged
from assay.harness.patchdiff.sides import Sides
from assay.instances.environments.image_builder import ImageBuilder
from assay.instances.environments.plan import make_plan
from assay.instances.environments.recipes import find_recipe
from assay.instances.trees.sources import Sources
from corpus.model import diff
from languages.hello import Hello, hellos

HELLOS = dict(hellos())
WRONG = {
    "go-test": ("hello.go", 'return "Hello, " + name + "!"', 'return "Hello, " + strings.TrimSpace(name) + "!"'),
    "javascript-mocha": ("hello.js", "`Hello, ${name}!`", '/^\\w+$/.test(name) ? `Hello, ${name}!` : "Hello, !"'),
}
RIGHT = {
    "go-test": ("hello.go", 'return "Hello, " + name + "!"', 'return strings.Join([]string{"Hello, ", name, "!"}, "")'),
    "javascript-mocha": ("hello.js", "`Hello, ${name}!`", '["Hello, ", name, "!"].join("")'),
}
SETTINGS = Settings(("amplify",), budget=120, confirmations=3)


def patch_of(hello: Hello, path: str, find: str, replace: str) -> str:
    text = hello.fix[path].replace(find, replace)
    assert text != hello.fix[path]
    if "strings." in text:
        text = text.replace("import ", 'import "strings"\nimport ', 1)
    return diff(hello.files, hello.files | {path: text})


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("go-test", marks=HELLOS["go-test"].toolchain),
        pytest.param("javascript-mocha", marks=[HELLOS["javascript-mocha"].toolchain, pytest.mark.exhaustive]),
    ],
)
def test_wrong_patch_is_flagged_with_a_test_that_shows_it_and_a_right_one_is_not(
    name: str, tmp_path: Path, docker_engine: DockerEngine
) -> None:
    hello = HELLOS[name]
    instance = hello.instance(name, hello.make_repository(tmp_path / "mirror"))
    image = ImageBuilder(docker_engine, Sources([tmp_path / "mirror"])).build_image(instance)

    def compared(patch: str) -> tuple[PatchDiffResult, dict[str, str]]:
        task = Task(
            instance, Prediction(instance_id=instance.id, model="hello", patch=patch), make_plan(instance, recipe)
        )
        done = assess(Sides(task, image, docker_engine), SETTINGS, lambda of, files: make_plan(of, recipe, files))
        return done.comparison, dict(done.files)

    recipe = find_recipe(instance)
    wrong, files = compared(patch_of(hello, *WRONG[name]))
    assert is_flagged(wrong.finding), wrong
    assert any("Bob" in text and text.startswith("// In place of ") for text in files.values()), files
    right, files = compared(patch_of(hello, *RIGHT[name]))
    assert right.finding is PatchDiffFinding.NO_DIFFERENCE_FOUND, right
    assert not files
