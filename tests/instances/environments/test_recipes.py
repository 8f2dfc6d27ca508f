from pathlib import Path

import pytest

from assay.harness.domain import Recipe, TreeFact, Variant
from assay.harness.errors import DataError, EnvironmentFailure
from assay.instances.environments.plan import make_plan
from assay.instances.environments.recipes import FOLDER, apply_variant, find_recipe, load_recipe
from toy import make_instance


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.yaml")), ids=lambda path: path.stem)
def test_a_shipped_recipe_is_named_after_its_repository_and_says_once_how_an_instance_behaves(path: Path):
    recipe = load_recipe(path)
    named = [*recipe.misbehaving, *(instance for day in recipe.verified.values() for instance in day)]

    assert recipe.language == path.parent.name
    assert path.stem == (recipe.repo.lower().replace("/", "__") or "default")
    assert len(set(named)) == len(named)
    assert all(instance.lower().startswith(f"{path.stem}-") for instance in named)


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.yaml")), ids=lambda path: path.stem)
def test_command_of_a_shipped_recipe_surely_runs_its_tripwires(path: Path):
    plan = make_plan(make_instance(), load_recipe(path))
    assert (plan.tripwires, plan.sure) == (True, True)


def test_an_unknown_repository_gets_the_default_of_its_language(instance):
    assert find_recipe(instance) == Recipe(language="python")


def test_a_users_recipe_comes_before_the_shipped_one(tmp_path: Path):
    write(tmp_path / "python" / "pallets__flask.yaml", "repo: pallets/flask\npackages: [pytest, mine]\n")

    found = find_recipe(make_instance(repo="Pallets/Flask"), [tmp_path])

    assert found.packages == ("pytest", "mine")


@pytest.mark.parametrize("name", ["python/Acme__Calc.yaml", "Python/acme__calc.YAML", "python/Default.yaml"])
def test_a_recipe_file_is_found_whatever_the_case_of_its_name(tmp_path: Path, name: str):
    write(tmp_path / name, "packages: [mine]\n")

    assert find_recipe(make_instance(repo="ACME/calc"), [tmp_path]).packages == ("mine",)


def test_two_recipe_files_whose_names_differ_only_in_case_are_refused(instance, tmp_path: Path):
    for name in ("acme__calc", "Acme__Calc"):
        write(tmp_path / "python" / f"{name}.yaml", "packages: [mine]\n")

    with pytest.raises(DataError, match=r"python/acme__calc\.yaml: .*as Acme__Calc\.yaml.*keep one"):
        find_recipe(instance, [tmp_path])


def test_the_recipe_of_a_row_comes_first(tmp_path: Path):
    assert find_recipe(make_instance(environment=Recipe(timeout=7))).timeout == 7


def test_an_unsupported_language_is_an_environment_failure():
    with pytest.raises(EnvironmentFailure, match=r"'cobol'.*python"):
        find_recipe(make_instance(language="cobol"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("repo: [a\n", r"acme__calc.yaml:1: is not YAML"),
        ("- a\n", "is not a mapping of fields"),
        ("pyton: '3.9'\n", "field pyton: is unknown; correct its name"),
        ("packages: pytest\n", "field packages: "),
        ("variants:\n  - versions: 2.x\n", r"field variants.0.versions: .*example"),
    ],
)
def test_a_wrong_recipe_is_refused_with_file_and_field(instance, tmp_path: Path, text: str, problem: str):
    write(tmp_path / "python" / "acme__calc.yaml", text)

    with pytest.raises(DataError, match=problem) as caught:
        find_recipe(instance, [tmp_path])

    assert "acme__calc.yaml" in str(caught.value)


OLD, NEW = (TreeFact(files=("setup.py",), contains=text) for text in ("old", "new"))
RECIPE = Recipe(
    toolchain="3.11",
    packages=("pytest",),
    env={"A": "1"},
    variants=(
        Variant(versions="<1.0", toolchain="3.9"),
        Variant(where=OLD, packages=("old",)),
        Variant(versions=">=2", where=NEW, env={"B": "2"}, cutoff_days=30),
    ),
)


@pytest.mark.parametrize(
    ("version", "said", "changed"),
    [
        ("0.9", [NEW], {"toolchain": "3.9"}),
        ("1.0", [NEW], {}),
        ("1.0", [OLD], {"packages": ("old",)}),
        ("0.9", [OLD], {"toolchain": "3.9"}),  # the first match, not all of them
        ("2.0.dev3", [NEW], {}),  # a development version comes before its release
        ("2.1", [NEW], {"env": {"B": "2"}, "cutoff_days": 30}),
        ("2.1", [], {}),
        ("", [NEW], {}),
        ("not a version", [NEW], {}),
    ],
)
def test_the_first_variant_that_matches_version_and_tree_applies(version, said, changed):
    instance = make_instance(version=version, facts=[fact.name for fact in said])

    assert apply_variant(RECIPE, instance) == RECIPE.model_copy(update={"variants": (), **changed})


def test_a_variant_that_asks_a_tree_which_nobody_has_asked_is_no_guess():
    with pytest.raises(EnvironmentFailure, match=r"^the tree of acme/calc cannot be asked for setup.py$"):
        apply_variant(RECIPE, make_instance(version="1.0"))
    assert apply_variant(RECIPE, make_instance(version="0.9")).toolchain == "3.9"
