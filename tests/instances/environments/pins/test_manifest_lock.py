from hashlib import sha256
from pathlib import Path

from assay.harness.domain import Recipe
from assay.instances.environments.pins.manifest_lock import make_manifest_lock
from saved_images import tree

DATE = "2023-05-06T00:00:00Z"


def line(path: str, text: str) -> str:
    return f"{sha256(text.encode()).hexdigest()}  {path}\n"


def test_a_lock_has_the_digests_of_the_languages_manifests_only(tmp_path: Path):
    found = make_manifest_lock(Recipe(language="go"), tree(tmp_path, go__sum="s", go__mod="m", main__go="x"), DATE)

    assert found == line("go.mod", "m") + line("go.sum", "s")


def test_a_recipe_names_further_manifests_by_pattern(tmp_path: Path):
    recipe = Recipe(language="go", manifests=("*.versions",))

    assert make_manifest_lock(recipe, tree(tmp_path, my__versions="v"), DATE).endswith(line("my.versions", "v"))


def test_a_tree_without_a_lock_file_is_locked_by_a_date(tmp_path: Path):
    recipe = Recipe(language="rust")
    fixed = make_manifest_lock(recipe, tree(tmp_path, Cargo__toml="t", Cargo__lock="l"), DATE)
    dated = make_manifest_lock(recipe, tree(tmp_path, Cargo__toml="t"), DATE)

    assert "# as of" not in fixed
    assert dated == f"# as of {DATE}\n" + line("Cargo.toml", "t")
