"""Patches that change manifests: pure, and with real packages in real containers."""

from pathlib import Path

import pytest

from asking import OTHER_PACKAGE, PROJECTS
from assay.harness.domain import Instance, Outcome, Prediction, Recipe
from assay.harness.engines.base import BoxSpec
from assay.harness.engines.docker import DockerEngine
from assay.harness.evaluation.evaluate import Evaluation, Task, evaluate
from assay.harness.grading.grade import grade
from assay.instances.environments.grading_image import make_grading_spec, patch_base
from assay.instances.environments.image_builder import ImageBuilder
from assay.instances.environments.image_specs import manifest_packages
from assay.instances.environments.plan import make_plan
from assay.instances.environments.recipes import find_recipe
from assay.instances.trees.sources import Sources, tree_ref
from corpus.model import diff
from languages.hello import Hello
from toy import make_instance

DATE = "2023-01-01T00:00:00Z"
GO = Recipe(language="go")
BEFORE = {"go.mod": "module a\n", "a.go": "package a\n", "tools/go.mod": "module b\n", "a_test.go": "package a\n"}
MODULES = diff(BEFORE, BEFORE | {"go.mod": "module a\n\nrequire b v1.0.0\n", "a.go": "package a\n\nvar A = 1\n"})
SOURCE = diff(BEFORE, BEFORE | {"a.go": "package a\n\nvar A = 2\n"})
OTHER_MODULE = diff(BEFORE, BEFORE | {"tools/go.mod": "module b\n\ngo 1.21\n"})
TESTS = diff(BEFORE, BEFORE | {"a_test.go": "package a\n\nvar B = 1\n"})


@pytest.fixture
def go_instance():
    def make(gold: str = MODULES, tests: str = TESTS, **changes) -> Instance:
        return make_instance(language="go", gold_patch=gold, test_patch=tests, **changes)

    return make


@pytest.mark.parametrize(
    ("gold", "tests", "patch", "asked"),
    [
        pytest.param(MODULES, TESTS, None, None, id="no patch"),
        pytest.param(MODULES, TESTS, "", None, id="empty patch"),
        pytest.param(MODULES, TESTS, SOURCE, None, id="sources alone"),
        pytest.param(SOURCE, TESTS, OTHER_MODULE, None, id="gold of sources alone"),
        pytest.param(MODULES, TESTS, OTHER_MODULE, MODULES, id="manifest"),
        pytest.param(MODULES, OTHER_MODULE, SOURCE, OTHER_MODULE, id="manifest of the test patch"),
        pytest.param(MODULES, OTHER_MODULE, "", OTHER_MODULE, id="empty patch, manifest of the test patch"),
        pytest.param(MODULES, OTHER_MODULE, None, None, id="nothing is graded"),
    ],
)
def test_packages_are_asked_for_by_gold_and_test_patch_alone(go_instance, gold, tests, patch, asked):
    asking = patch_base(go_instance(gold, tests), GO, patch)

    assert (asking and tree_ref(asking).patch) == asked
    assert asking is None or tree_ref(asking).commit == go_instance().base_commit


def test_patterns_of_a_recipe_name_manifests(go_instance):
    recipe = Recipe(language="go", manifests=("a.go",))

    assert patch_base(go_instance(gold=SOURCE), recipe, SOURCE) is not None


def test_name_depends_on_manifests_and_parent_alone(go_instance):
    asking = patch_base(go_instance(), GO, MODULES)
    same = patch_base(go_instance(gold=MODULES.replace("A = 1", "A = 3")), GO, MODULES)
    assert asking
    assert same

    def name(instance: Instance, lock: str = "00  go.mod\n", parent: str = "assay/instance-a:1") -> str:
        return make_grading_spec(instance, GO, parent, manifest_packages(instance, GO, lock, DATE)).name

    assert name(asking) == name(same)
    assert len({name(asking), name(asking, "11  go.mod\n"), name(asking, parent="assay/instance-a:2")}) == 3
    spec = make_grading_spec(asking, GO, "assay/instance-a:1", manifest_packages(asking, GO, "00  go.mod\n", DATE))
    assert not [text for text in spec.files.values() if "require b" in text]
    assert spec.caches not in ("", asking.repo), (
        "what a row's patch installs would run beside its repository's packages"
    )


KEPT = {
    "go": "ls -d /opt/go/mod/github.com/pkg/errors@v0.9.1",
    "rust": "ls -d /opt/cargo/registry/src/*/fnv-1.*",
    "python": "/opt/venv/bin/python -c 'import toolz'",
    "javascript": "ls -d /opt/node/node_modules/isarray",
}
"""Commands that succeed where the fix's package is."""


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[PROJECTS[name].toolchain, *[pytest.mark.exhaustive] * (name != "python")])
        for name in KEPT
    ],
)
def test_packages_that_a_fix_adds_are_there_for_patches_that_change_manifests_alone(
    name: str, tmp_path: Path, docker_engine: DockerEngine
) -> None:
    hello = PROJECTS[name]
    instance = hello.instance(name, hello.make_repository(tmp_path / "mirror"))
    notes = list[str]()
    builder = ImageBuilder(docker_engine, Sources([tmp_path / "mirror"], tmp_path / "cache"), note=notes.append)

    def run(patch: str) -> Evaluation:
        task = Task(instance, Prediction(instance_id=instance.id, patch=patch), plan_of(instance), runs_empty=True)
        return evaluate(task, builder.build_image(instance, patch), docker_engine)

    try:
        of_solvers, graded = builder.build_image(instance), builder.build_image(instance, instance.gold_patch)
        assert builder.build_image(instance, sources_alone(hello)) == of_solvers
        assert has(docker_engine, graded, KEPT[name])
        assert not has(docker_engine, of_solvers, KEPT[name])
        assert has(docker_engine, graded, "git -C /testbed diff --quiet HEAD")
        assert not has(docker_engine, graded, "ls /build /run/secrets/settings")

        fixed, empty = run(instance.gold_patch), run("")
        other = run(diff(hello.files, hello.files | OTHER_PACKAGE[name]))
    finally:
        for image in [note.split()[1] for note in notes if note.startswith("built assay/")][::-1]:
            docker_engine.remove_image(image)

    assert grade(instance, fixed.evidence).outcome is Outcome.RESOLVED, fixed.output.decode(errors="replace")[-3000:]
    assert grade(instance, empty.evidence).outcome in {Outcome.UNRESOLVED, Outcome.NOT_RUN}
    assert grade(instance, other.evidence).outcome in {Outcome.UNRESOLVED, Outcome.NOT_RUN}
    assert "packages_missing" in other.evidence.flags, other.output.decode(errors="replace")[-3000:]
    assert "packages_missing" not in (*fixed.evidence.flags, *empty.evidence.flags)


def plan_of(instance: Instance):
    return make_plan(instance, find_recipe(instance))


def sources_alone(hello: Hello) -> str:
    manifests = {"go.mod", "go.sum", "Cargo.toml", "pyproject.toml", "package.json"}
    return diff(hello.files, hello.files | {path: text for path, text in hello.fix.items() if path not in manifests})


def has(engine: DockerEngine, image: str, command: str) -> bool:
    with engine.open(BoxSpec(image)) as box:
        return box.exec(["sh", "-c", command], user="assay", workdir="/testbed").exit_code == 0
