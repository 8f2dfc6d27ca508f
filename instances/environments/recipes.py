"""How a repository is built and tested: finds the recipe of an instance and settles which variant of it holds."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version
from pydantic import ValidationError

from assay.harness import languages
from assay.harness.domain import UNKNOWN_TIME, Instance, PublishedImage, Recipe, Variant
from assay.harness.errors import DataError, EnvironmentFailure, UserError

FOLDER = Path(__file__).parent.parent / "recipes"
"""``<language>/<owner>__<name>.yaml``; a user's folder may also hold ``<language>/default.yaml`` for all others."""
CONDITIONS = frozenset({"versions", "before", "rule"})


def find_recipe(instance: Instance, folders: Sequence[Path] = ()) -> Recipe:
    """Return the recipe of an instance with its variant settled.

    A recipe that the instance carries comes first, then the caller's folders, then the shipped ones, then what the
    language usually does.

    Raises:
        DataError: a recipe file is wrong.
        EnvironmentFailure: the language is not supported.
    """
    try:
        languages.find(instance.language)
    except UserError as error:
        raise EnvironmentFailure(str(error)) from error
    if isinstance(instance.environment, PublishedImage):
        return Recipe(language=instance.language)  # its own script knows the rest
    if isinstance(instance.environment, Recipe):
        return resolve(instance.environment, instance)
    for path in _candidates(instance, (*folders, FOLDER)):
        if path.is_file():
            return resolve(load_recipe(path), instance)
    return Recipe(language=instance.language)


def _candidates(instance: Instance, folders: Sequence[Path]) -> Iterator[Path]:
    own = instance.repo.lower().replace("/", "__")
    for name in (own, "default"):
        for folder in folders:
            yield folder / instance.language / f"{name}.yaml"


def load_recipe(path: Path) -> Recipe:
    """Read one recipe file; raises DataError that names the file and the field."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", file=str(path)) from error
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", -1) + 1
        raise DataError(f"not YAML: {getattr(error, 'problem', error)}", file=str(path), line=line) from error
    if not isinstance(content, dict):
        raise DataError("must hold fields and values", file=str(path))
    try:
        recipe = Recipe.model_validate({"language": path.parent.name, **content})
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise DataError(first["msg"], file=str(path), field=field) from error
    _check_variants(recipe, path)
    return recipe


def _check_variants(recipe: Recipe, path: Path) -> None:
    for number, variant in enumerate(recipe.variants):
        try:
            SpecifierSet(variant.versions)
        except InvalidSpecifier as error:
            field = f"variants.{number}.versions"
            raise DataError(f"{error} (example: '>=1.0,<2.1')", file=str(path), field=field) from error


def resolve(recipe: Recipe, instance: Instance) -> Recipe:
    """Return the recipe with its first matching variant applied and none left."""
    chosen = next((variant for variant in recipe.variants if _matches(variant, instance)), Variant())
    changes = {name: getattr(chosen, name) for name in chosen.model_fields_set if getattr(chosen, name) is not None}
    changes = {name: value for name, value in changes.items() if name not in CONDITIONS}
    return recipe.model_copy(update={**changes, "variants": ()})


def _matches(variant: Variant, instance: Instance) -> bool:
    known = instance.created_at != UNKNOWN_TIME
    in_time = variant.before is None or (known and instance.created_at < variant.before)
    same_rule = variant.rule in {None, instance.rule}
    return in_time and same_rule and (not variant.versions or _version_in(instance.version, variant.versions))


def _version_in(version: str, specifier: str) -> bool:
    try:
        return SpecifierSet(specifier).contains(Version(version), prereleases=True)
    except InvalidVersion:
        return False
