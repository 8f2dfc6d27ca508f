"""Plans of a workbench that builds environments."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from assay.choices import EnvironmentChoice
from assay.harness.domain import Instance, PublishedImage, RowScript
from assay.harness.engines.fake import FakeEngine
from assay.harness.errors import EnvironmentFailure, ImageMissing
from assay.instances.environments.image_builder import ImageBuilder
from assay.instances.environments.recipes import find_recipe
from assay.instances.trees.sources import Sources
from assay.jobs.workbench import NO_RECIPE, BuiltWorkbench, Planner
from corpus.model import diff
from corpus.stage import git
from toy import make_instance

FILES = {"tests/test_a.py": "def test_x(): pass\n", "tests/test_b.py": "def test_y(): pass\n"}
CHANGE = {"tests/test_a.py": "def test_x(): assert True\n"}


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Instance]:
    """Return a function from pass-to-pass tests to an instance of a repository in a folder of mirrors."""
    folder = tmp_path / "mirror" / "acme" / "calc"
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "base")
    commit, patch = git(folder, "rev-parse", "HEAD"), diff(FILES, FILES | CHANGE)

    def make(*labels: str, **fields: object) -> Instance:
        known = {"base_commit": commit, "test_patch": patch, "gold_patch": "", "fail_to_pass": ()}
        return make_instance(**known, pass_to_pass=labels, **fields)

    return make


@pytest.fixture
def bench(tmp_path: Path) -> BuiltWorkbench:
    engine, sources = FakeEngine({}), Sources([tmp_path / "mirror"], tmp_path / "cache")
    return BuiltWorkbench(engine, Planner(engine), sources, ImageBuilder(engine, sources))


def test_missing_image_of_an_engine_that_builds_none_names_the_remedy(bench, make):
    bench.engine.builds_images = False
    remedy = r"image of acme__calc-1 is not here.*assay images export.*assay images import FILE --engine fake"
    with pytest.raises(ImageMissing, match=remedy), bench.image(make("tests/test_a.py::test_x")):
        pass


def test_an_aimed_plan_runs_what_the_labels_name_and_is_the_same_otherwise(bench, make):
    instance = make("tests/test_a.py::test_x", "tests/test_b.py::test_y")
    limits = bench.plan(instance).limits.model_copy(update={"seconds": 7.0})
    plan = bench.plan(instance).model_copy(update={"limits": limits})

    aimed = bench.aim(plan, instance)

    assert plan.targets == ("tests/test_a.py",)
    assert aimed.targets == ("tests/test_a.py", "tests/test_b.py")
    assert "set -- tests/test_a.py tests/test_b.py\n" in aimed.command
    assert aimed == plan.model_copy(update={"targets": aimed.targets, "command": aimed.command})


def test_a_published_image_runs_its_own_script(bench, make):
    instance = make("tests/gone.py::x", environment=PublishedImage(image="a", eval_script="true\n"))
    plan = bench.plan(instance)

    assert bench.aim(plan, instance) == plan


def test_the_script_that_only_an_image_has_is_read_before_planning(bench, make, monkeypatch):
    named = PublishedImage(image="a", eval_script="", script_file="/home/run.sh")
    settled = BuiltWorkbench(bench.engine, bench.planner, bench.sources, bench.builder, EnvironmentChoice.PUBLISHED)

    lost = settled.settle(make("a::b", environment=named))
    with pytest.raises(EnvironmentFailure, match="a"), settled.image(lost):
        pass

    def read_file(image: str, path: str) -> str:
        assert (image, path) == ("a", "/home/run.sh")
        return "cd /home/calc\npytest x.py\n"

    monkeypatch.setattr(bench.builder._layers, "read_file", read_file)
    assert settled.plan(settled.settle(make("a::b", environment=named))).workdir == "/home/calc"
    with pytest.raises(EnvironmentFailure, match="was not there when its tests were planned"), settled.image(lost):
        pass


def test_expected_tests_that_are_nowhere_fail_the_environment(bench, make):
    instance = make("tests/gone.py::x")

    with pytest.raises(EnvironmentFailure, match=r"nowhere in the tree: tests/gone\.py::x$"):
        bench.aim(bench.plan(instance), instance)


@pytest.fixture
def partial(tmp_path: Path, make: Callable[..., Instance]) -> tuple[BuiltWorkbench, Instance]:
    """Return a workbench whose mirror is a partial clone, and an instance of it."""
    whole = tmp_path / "mirror/acme/calc"
    for name in ("large.bin", "tests/test_large.py", "setup.cfg", "tests/test_a.py"):
        (whole / name).write_text("#" * 5000)
    git(whole, "add", "--all")
    git(whole, "commit", "--quiet", "--message", "large")
    git(whole, "config", "uploadpack.allowFilter", "true")
    instance = make("tests/test_b.py::test_y").model_copy(update={"base_commit": git(whole, "rev-parse", "HEAD")})
    git(whole, "clone", "--quiet", "--bare", "--filter=blob:limit=4k", f"file://{whole}", f"{tmp_path}/some/acme__calc")
    engine, sources = FakeEngine({}), Sources([tmp_path / "some"], tmp_path / "cache")
    return BuiltWorkbench(engine, Planner(engine), sources, ImageBuilder(engine, sources)), instance


def test_what_the_clones_lack_is_settled_with_the_instance(partial) -> None:
    bench, instance = partial
    settled = bench.settle(instance)
    assert settled == instance.model_copy(
        update={"lacking": ("large.bin", "setup.cfg", "tests/test_a.py", "tests/test_large.py")}
    )
    assert bench.builder.make_key(settled) != bench.builder.make_key(instance)
    published = instance.model_copy(update={"environment": PublishedImage(image="a", eval_script="true")})
    assert replace(bench, environment=EnvironmentChoice.PUBLISHED).settle(published).lacking == ()


def test_an_image_of_the_whole_tree_is_used_though_the_clones_lack_files(partial, monkeypatch) -> None:
    bench, instance = partial
    monkeypatch.setattr(ImageBuilder, "find_image", lambda _, given: "" if given.lacking else "assay/instance:1")
    assert bench.settle(instance) == instance


LINE = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize(
    ("changes", "patch", "reason"),
    [
        ({"lacking": ("large.bin",)}, LINE.format("large.bin"), "lack large.bin, and a patch touches it"),
        ({"lacking": ("large.bin",), "test_patch": LINE.format("large.bin")}, None, "lack large.bin, and a patch"),
        ({"lacking": ("tests/test_b.py",)}, None, "lack tests/test_b.py, and it has expected tests"),
        ({"lacking": ("setup.cfg",)}, None, "lack setup.cfg, and it says which packages are needed"),
        ({"lacking": tuple(f"{number}.bin" for number in range(26))}, None, "lack 26 files of [0-9a-f]{12}, 0.bin"),
    ],
)
def test_a_missing_file_that_is_needed_fails_the_environment(partial, changes, patch, reason) -> None:
    bench, instance = partial
    changed = instance.model_copy(update={"test_patch": "", **changes})
    with pytest.raises(EnvironmentFailure, match=f"^the clones of acme/calc {reason}"), bench.image(changed, patch):
        pass
    if patch is None:
        with pytest.raises(EnvironmentFailure, match=reason):
            bench.aim(bench.plan(changed), changed)


def test_a_plan_says_that_no_recipe_names_the_repository(tmp_path: Path) -> None:
    (tmp_path / "python").mkdir()
    planner = Planner(FakeEngine({}), (tmp_path,))
    assert planner.plan(make_instance()).by_defaults
    (tmp_path / "python/acme__calc.yaml").write_text("packages: [pytest]\n")
    assert not planner.plan(make_instance()).by_defaults


VARIANT = "variants:\n  - where: {files: [tests/test_a.py], contains: 'def test_x'}\n    packages: [old]\n"


def test_the_variant_of_a_recipe_is_chosen_by_what_the_tree_says(bench, make, tmp_path: Path) -> None:
    (tmp_path / "python").mkdir()
    (tmp_path / "python/acme__calc.yaml").write_text(VARIANT)
    planner = Planner(bench.engine, (tmp_path,))
    builder = ImageBuilder(bench.engine, bench.sources, recipes=(tmp_path,))
    bench = replace(bench, planner=planner, builder=builder)

    settled = bench.settle(make("tests/test_a.py::test_x"))

    assert len(settled.facts or ()) == 1
    assert find_recipe(settled, (tmp_path,)).packages == ("old",)
    assert bench.plan(settled).targets == ("tests/test_a.py",)
    unknown = bench.settle(make("tests/test_a.py::test_x").model_copy(update={"base_commit": "1" * 40}))
    assert unknown.facts is None
    assert bench.plan(unknown) == NO_RECIPE
    with pytest.raises(EnvironmentFailure, match="cannot be asked"), bench.image(unknown):
        pass


SCRIPT = ": '>>>>> Start Test Output'\n{}\n: '>>>>> End Test Output'\n"


def test_the_rows_script_is_kept_without_its_image_unless_a_recipe_names_the_repository(
    bench, make, tmp_path: Path
) -> None:
    script = SCRIPT.format("npm test")
    row = make(environment=PublishedImage(image="gone", eval_script=script), language="typescript")
    settled = bench.settle(row)
    assert settled.environment == RowScript(eval_script=script)
    assert bench.plan(settled).by_defaults
    assert bench.aim(bench.plan(settled), settled) == bench.plan(settled)
    assert bench.builder.make_key(settled) == bench.builder.make_key(settled.model_copy(update={"environment": None}))

    (tmp_path / "typescript").mkdir()
    (tmp_path / "typescript/acme__calc.yaml").write_text("packages: [old]\n")
    named = replace(bench, planner=Planner(bench.engine, (tmp_path,)))
    assert named.settle(row).environment is None
    published = replace(bench, environment=EnvironmentChoice.PUBLISHED)
    assert published.settle(row).environment == row.environment


def test_a_script_that_names_a_command_of_the_package_is_settled_with_the_trees_own(bench, make, tmp_path) -> None:
    folder = tmp_path / "mirror" / "acme" / "calc"
    (folder / "package.json").write_text('{"scripts": {"test": "vitest", "odd": 1}}')
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "package")
    row = make(environment=RowScript(eval_script=SCRIPT.format("npm test -- a.spec.ts"), scripts={"test": "rm -rf /"}))
    row = row.model_copy(update={"base_commit": git(folder, "rev-parse", "HEAD"), "language": "typescript"})

    for _ in range(2):  # the second time from the cache
        settled = bench.settle(row)
        assert settled.environment.scripts == {"test": "vitest"}
        assert "node_modules/.bin/vitest a.spec.ts" in bench.plan(settled).command
        (folder / "package.json").unlink(missing_ok=True)
