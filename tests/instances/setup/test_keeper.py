"""Recipes for repositories that have none: found with real containers and a package index, or found earlier."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from assay.harness.domain import Recipe
from assay.harness.engines.fake import FakeEngine
from assay.instances.environments.image_builder import ImageBuilder
from assay.instances.setup.keeper import Setter
from assay.instances.setup.setup_record import SetupRecord, save_record
from assay.instances.trees.sources import Sources
from assay.jobs.workbench import BuiltWorkbench, Planner
from corpus.stage import git
from toy import make_instance

DAY = datetime(2024, 3, 1, tzinfo=UTC)
FILES = {
    "setup.py": "from setuptools import setup\nsetup(name='calc', version='1', py_modules=['calc'])\n",
    "calc.py": "import toml\n\ndef add(a, b):\n    return a + b\n",
    "tests/test_calc.py": "import calc\n\ndef test_add(mocker):\n    assert calc.add(1, 2) == 3\n",
}
NODE = {
    "package.json": '{"scripts": {"test": "npm run build && mocha", "build": "tsc"}, "devDependencies": '
    '{"mocha": "10.8.2", "typescript": "5.6.3", "@types/node": "20.17.0"}}',
    "tsconfig.json": '{"compilerOptions": {"outDir": "dist", "module": "commonjs", "types": ["node"]}}',
    "src/types.ts": "export type Sum = number;\n",
    "src/calc.ts": "export const add = (a: number, b: number): number => a + b;\n",
    "test/calc.js": 'const { equal } = require("assert");\nconst { add } = require("../dist/calc");\n'
    'it("adds", () => equal(add(1, require("left-pad")("", 2).length), 3));\n',
}
"""Its tests run on what its build makes, and load a package that no manifest names."""

RULES = {"python": {"missing-module", "unknown-fixture"}, "typescript": {"missing-package"}}


@pytest.fixture
def commit(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """A commit of a project that does not say that it needs toml and pytest-mock, or of another."""
    folder = tmp_path / "mirror/acme/calc"
    for path, text in getattr(request, "param", FILES).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "base", "--date", "2024-03-01T00:00:00Z")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def setter(tmp_path: Path, notes: list[str]) -> Setter:
    """One that builds nothing."""
    engine, sources = FakeEngine({}), Sources([tmp_path / "mirror"], tmp_path / "cache")
    return Setter(engine, sources, ImageBuilder(engine, sources), tmp_path / "kept", {}, note=notes.append)


def keep(folder: Path, days: int, *, accepted: bool = True, **fields: object) -> SetupRecord:
    """Keep the record of a search whose commit is so many days after the first."""
    recipe = Recipe(packages=(f"p{days}",))
    known: dict[str, Any] = {"repo": "acme/calc", "language": "python", "ended": True, "recipe": recipe}
    record = SetupRecord(
        commit=f"{days % 97:02d}" * 20, date=DAY + timedelta(days=days), accepted=accepted, **(known | fields)
    )
    save_record(folder, record)
    return record


def test_the_recipe_of_the_nearest_search_is_taken(setter: Setter, notes: list[str]) -> None:
    instance = make_instance(base_commit="f" * 40, created_at=DAY)
    keep(setter.folder, 5, accepted=False)
    keep(setter.folder, 1, ended=False)
    assert setter.find_recipe(instance) is None  # a search without success is not repeated nearby
    keep(setter.folder, -80)
    near = keep(setter.folder, 30)
    assert setter.find_recipe(instance) == near.recipe
    assert not notes


def test_a_search_too_long_ago_is_none(setter: Setter, notes: list[str]) -> None:
    keep(setter.folder, 91)
    assert setter.find_recipe(make_instance(base_commit="f" * 40, created_at=DAY)) is None
    assert notes[0] == "no recipe names acme/calc: searching for one, for at most 10 min"
    assert notes[1].startswith("no set-up of acme/calc: commit ffff")


def test_a_workbench_gives_the_recipe_only_to_instances_without_one(setter: Setter) -> None:
    found = keep(setter.folder, 0)
    engine = setter.engine
    bench = BuiltWorkbench(engine, Planner(engine), setter.sources, setter.builder, setter=setter)
    bare = make_instance(base_commit="f" * 40, created_at=DAY)
    assert bench.settle(bare).environment == found.recipe
    assert "p0" in str(bench.settle(bare).environment)
    own = Recipe(packages=("own",))
    assert bench.settle(bare.model_copy(update={"environment": own})).environment == own
    shipped = bare.model_copy(update={"repo": "django/django"})
    assert bench.settle(shipped).environment is None
    assert replace(bench, setter=None).settle(bare).environment is None


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.xdist_group("build")
@pytest.mark.parametrize(
    ("commit", "language", "packages"),
    [
        (FILES, "python", {"pytest", "pytest-mock", "toml"}),
        pytest.param(
            NODE, "typescript", {"left-pad"}, marks=[pytest.mark.toolchain("javascript", "18"), pytest.mark.exhaustive]
        ),
    ],
    indirect=["commit"],
)
def test_missing_packages_are_found_by_running_the_suite(
    commit: str, language: str, packages: set[str], setter: Setter, notes: list[str], docker_engine
) -> None:
    builder = ImageBuilder(docker_engine, setter.sources)
    real = replace(setter, engine=docker_engine, builder=builder, rounds=4)
    found = real.set_up("acme/calc", "main")
    try:
        assert found.accepted, notes
        assert found.reason == "100.0% of 1 test pass in two runs"
        assert set(found.recipe.packages) == packages
        rules = {change.rule for attempt in found.attempts for change in attempt.changes}
        assert RULES[language] <= rules
        assert (setter.folder / f"{language}/acme__calc.yaml").is_file()
        assert real.set_up("acme/calc", commit) == found
        builds = len(notes)
        instance = make_instance(base_commit=commit, created_at=found.date, language=language)
        assert real.find_recipe(instance) == found.recipe
        assert len(notes) == builds
    finally:
        for attempt in found.attempts:
            image = builder.lone().build_image(make_instance(base_commit=commit, environment=attempt.recipe))
            docker_engine.remove_image(image)
